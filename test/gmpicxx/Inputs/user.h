#define USER_VALUE 7
