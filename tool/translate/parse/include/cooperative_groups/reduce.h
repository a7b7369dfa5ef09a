// Everything is in cooperative_groups.h.
#pragma once
#pragma GCC system_header
#include "../cooperative_groups.h"
