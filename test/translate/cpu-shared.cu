// Every way to declare block-shared variables, on the cpu device.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --device=cpu in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cpu -Wno-unused out.cu

//--- in.cu
template <class T, int N> __global__ void k(T *p) {
  __shared__ T x[N][2], *y, z; // comment
  extern __shared__ __align__(16) unsigned char raw[];
  static __shared__ volatile int flag;
  __shared__ union { float f; int i[4]; } u;
  __shared__ struct S { float f; } s[3];
  __shared__ float
     multi
     [4];
  float __shared__ const (*fp)[3];
  alignas(32) __shared__ double al[2];
  { __shared__ int x; x = 1; }
  x[0][0] = 1; y = p; z = 0; raw[0] = 1; flag = 2; u.f = 3; s[1].f = 2; multi[1] = 2; (void)fp; al[1] = 2;
  p[0] = x[0][0];
}
int main() { k<int, 3><<<1, 32, 64>>>(nullptr); }
//--- check
CHECK: auto &x = ::gmpi::cpu::shared<T [N][2]>({[[FILE:0x[0-9a-f]+]], 2, 16}); auto &y = ::gmpi::cpu::shared<T *>({[[FILE]], 2, 26}); auto &z = ::gmpi::cpu::shared<T>({[[FILE]], 2, 29}); // comment
CHECK-NEXT: auto *raw = ::gmpi::cpu::dynamic_shared<unsigned char>();
CHECK-NEXT: auto &flag = ::gmpi::cpu::shared<volatile int>({[[FILE]], 4, 34});
CHECK-NEXT: union gmpi_shared_5_3 { float f; int i[4]; }; auto &u = ::gmpi::cpu::shared<gmpi_shared_5_3>(
CHECK-NEXT: struct S { float f; }; auto &s = ::gmpi::cpu::shared<S [3]>(
CHECK-NEXT: auto &multi = ::gmpi::cpu::shared<float [4]>({[[FILE]], 8, 6});
CHECK-EMPTY:
CHECK-EMPTY:
CHECK-NEXT: auto &fp = ::gmpi::cpu::shared<float const (*)[3]>(
CHECK-NEXT: auto &al = ::gmpi::cpu::shared<double [2]>(
CHECK-NEXT: { auto &x = ::gmpi::cpu::shared<int>({[[FILE]], 12, 20}); x = 1; }
