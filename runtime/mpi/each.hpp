// Preprocessor iteration over a parenthesised list of roles from functions.def:
// GMPI_EACH(M, (a, b, c)) is M(a) M(b) M(c), GMPI_LIST puts commas between. Up to 12 roles, the
// longest list of any MPI function here (MPI_Sendrecv).
#pragma once

#define GMPI_EACH_1(M, a) M(a)
#define GMPI_EACH_2(M, a, ...) M(a) GMPI_EACH_1(M, __VA_ARGS__)
#define GMPI_EACH_3(M, a, ...) M(a) GMPI_EACH_2(M, __VA_ARGS__)
#define GMPI_EACH_4(M, a, ...) M(a) GMPI_EACH_3(M, __VA_ARGS__)
#define GMPI_EACH_5(M, a, ...) M(a) GMPI_EACH_4(M, __VA_ARGS__)
#define GMPI_EACH_6(M, a, ...) M(a) GMPI_EACH_5(M, __VA_ARGS__)
#define GMPI_EACH_7(M, a, ...) M(a) GMPI_EACH_6(M, __VA_ARGS__)
#define GMPI_EACH_8(M, a, ...) M(a) GMPI_EACH_7(M, __VA_ARGS__)
#define GMPI_EACH_9(M, a, ...) M(a) GMPI_EACH_8(M, __VA_ARGS__)
#define GMPI_EACH_10(M, a, ...) M(a) GMPI_EACH_9(M, __VA_ARGS__)
#define GMPI_EACH_11(M, a, ...) M(a) GMPI_EACH_10(M, __VA_ARGS__)
#define GMPI_EACH_12(M, a, ...) M(a) GMPI_EACH_11(M, __VA_ARGS__)

#define GMPI_LIST_1(M, a) M(a)
#define GMPI_LIST_2(M, a, ...) M(a), GMPI_LIST_1(M, __VA_ARGS__)
#define GMPI_LIST_3(M, a, ...) M(a), GMPI_LIST_2(M, __VA_ARGS__)
#define GMPI_LIST_4(M, a, ...) M(a), GMPI_LIST_3(M, __VA_ARGS__)
#define GMPI_LIST_5(M, a, ...) M(a), GMPI_LIST_4(M, __VA_ARGS__)
#define GMPI_LIST_6(M, a, ...) M(a), GMPI_LIST_5(M, __VA_ARGS__)
#define GMPI_LIST_7(M, a, ...) M(a), GMPI_LIST_6(M, __VA_ARGS__)
#define GMPI_LIST_8(M, a, ...) M(a), GMPI_LIST_7(M, __VA_ARGS__)
#define GMPI_LIST_9(M, a, ...) M(a), GMPI_LIST_8(M, __VA_ARGS__)
#define GMPI_LIST_10(M, a, ...) M(a), GMPI_LIST_9(M, __VA_ARGS__)
#define GMPI_LIST_11(M, a, ...) M(a), GMPI_LIST_10(M, __VA_ARGS__)
#define GMPI_LIST_12(M, a, ...) M(a), GMPI_LIST_11(M, __VA_ARGS__)

#define GMPI_COUNT_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, n, ...) n
#define GMPI_COUNT(...) GMPI_COUNT_PICK(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GMPI_JOIN_(a, b) a##b
#define GMPI_JOIN(a, b) GMPI_JOIN_(a, b)
#define GMPI_UNWRAP(...) __VA_ARGS__
#define GMPI_EACH_IN(M, ...) GMPI_JOIN(GMPI_EACH_, GMPI_COUNT(__VA_ARGS__))(M, __VA_ARGS__)
#define GMPI_LIST_IN(M, ...) GMPI_JOIN(GMPI_LIST_, GMPI_COUNT(__VA_ARGS__))(M, __VA_ARGS__)
#define GMPI_EACH(M, roles) GMPI_EACH_IN(M, GMPI_UNWRAP roles)
#define GMPI_LIST(M, roles) GMPI_LIST_IN(M, GMPI_UNWRAP roles)
