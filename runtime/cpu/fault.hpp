// Says where in which kernel a program died: the kernel, block and thread, and what is known of the
// address. Covers memory faults, arithmetic faults, assertions and abort.
#pragma once

namespace gmpi::cpu {

// Installs the signal handlers, once a process.
void report_faults();
// Gives the calling OS thread a stack for them, so that a fiber's stack overflow can be reported.
void handle_faults_on_this_thread();

} // namespace gmpi::cpu
