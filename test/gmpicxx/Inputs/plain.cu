#include "user.h"
__global__ void fill(int *values) { values[threadIdx.x] = USER_VALUE; }
int main() { return 0; }
