"""How many jumps by table (BRX) the machine code of a cubin for sm_90 has: an instruction is 16
bytes, the low 12 bits its operation."""
import struct
import sys

BRX = 0x949
code = open(sys.argv[1], "rb").read()
jumps = sum(struct.unpack_from("<H", code, at)[0] & 0xFFF == BRX for at in range(0, len(code) - 15, 16))
print("jumps by table:", jumps)
