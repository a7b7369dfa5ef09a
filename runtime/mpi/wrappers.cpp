// MPI functions of the host program that the runtime stands before (through PMPI):
// initialisation, which starts the proxy; requests, since a kernel's may be waited for on the host;
// error handlers; and the collectives that kernels may call, because a blocking collective on one
// rank does not match the nonblocking one that the proxy makes on another; and the end of a communicator.
#include "../launch/choose_device.hpp"
#include "../launch/launch.hpp"
#include "../peer/hosts/links.hpp"
#include "../proxy/backoff.hpp"
#include "../proxy/errors.hpp"
#include "../proxy/exit.hpp"
#include "../proxy/host_wait.hpp"
#include "../proxy/proxy.hpp"
#include "../proxy/report.hpp"
#include "../proxy/settings.hpp"
#include "../proxy/start.hpp"
#include "../proxy/transports.hpp"
#include "../transport/gpu_aware.hpp"
#include "host_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace gmpi {
namespace {

int initialize(int *argc, char ***argv, int required, int *provided) {
  int got = MPI_THREAD_SINGLE;
  int error = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &got);
  if (error != MPI_SUCCESS)
    return error;
  if (got < MPI_THREAD_MULTIPLE)
    fatal("this MPI library gives no MPI_THREAD_MULTIPLE, which MPI in kernels needs; use a build "
          "of it that does");
  if (provided != nullptr)
    *provided = std::max(required, got);
  install_error_handler();
  HostRanks host = find_host_ranks();
  launch::choose_device(host.device_rank);
  note_main_thread(required);
  gpu_aware::start(host.count());
  Proxy::start();
  peer::Links::start(host);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    if (settings().peer)
      peer::Links::instance()->add(comm);
  watch_exit();
  return MPI_SUCCESS;
}

void note_host_progress() {
  if (Proxy *proxy = Proxy::instance())
    proxy->note_host_progress();
}

/// Waits for MPI's request by testing it: other threads of this process need MPI to progress too.
int wait_for(MPI_Request request) {
  Backoff backoff;
  int done = 0, error = MPI_SUCCESS;
  while (error == MPI_SUCCESS && !done) {
    error = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done)
      backoff.wait();
  }
  note_host_progress();
  return error;
}

/// A host collective in the form in which the proxy makes it.
int host_collective(Function function, const Arguments &arguments) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = start_nonblocking(function, arguments, &request);
  return error == MPI_SUCCESS ? wait_for(request) : error;
}

bool test_kernel_request(MPI_Request *request, MPI_Status *status, int &error, bool waits) {
  Proxy *proxy = Proxy::instance();
  if (proxy == nullptr)
    fatal("a kernel's request was waited for outside MPI_Init ... MPI_Finalize");
  if (!proxy->test_from_host(*request, status, error, waits))
    return false;
  *request = MPI_REQUEST_NULL;
  return true;
}

int wait_for_kernel_request(MPI_Request *request, MPI_Status *status) {
  Backoff backoff;
  int error = MPI_SUCCESS;
  while (!test_kernel_request(request, status, error, true))
    backoff.wait();
  return error;
}

using peer::kernel_only;

/// A new communicator, or one whose info has changed: do kernels carry its messages? All its ranks ask.
void consider_peer(MPI_Comm comm, MPI_Info info) {
  peer::Links *links = peer::Links::instance();
  int inter = 0;
  if (links == nullptr || comm == MPI_COMM_NULL ||
      PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
    return;
  char value[8] = "";
  int found = 0;
  if (info != MPI_INFO_NULL)
    PMPI_Info_get(info, kernel_only, sizeof(value) - 1, value, &found);
  int asserted = settings().peer || (found && std::strcmp(value, "true") == 0);
  int asserting = 0, size = 0;
  PMPI_Allreduce(&asserted, &asserting, 1, MPI_INT, MPI_SUM, comm);
  PMPI_Comm_size(comm, &size);
  if (asserted && asserting < size)
    say("%s is not set by all ranks of the communicator: it is ignored", kernel_only);
  if (asserting == 0 || links->has(comm))
    return;
  if (asserting == size)
    links->add(comm);
  else
    links->note_against(comm, std::string(kernel_only) + " is not set by all its ranks");
}

void release_communicator(MPI_Comm comm) {
  if (peer::Links *links = peer::Links::instance())
    links->remove(comm);
  if (Proxy *proxy = Proxy::instance())
    proxy->release_communicator(comm);
  if (settings().stats)
    transports::forget(comm);
}

void refuse_kernel_requests(const char *function, int count, const MPI_Request *requests) {
  if (std::any_of(requests, requests + count, is_kernel_request))
    fatal("%s was given a request that a kernel made; only MPI_Wait, MPI_Waitall and MPI_Test take "
          "those on the host",
          function);
}

} // namespace
} // namespace gmpi

using namespace gmpi;

extern "C" {

int MPI_Init(int *argc, char ***argv) {
  return initialize(argc, argv, MPI_THREAD_SINGLE, nullptr);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  return initialize(argc, argv, required, provided);
}

int MPI_Finalize() {
  if (Proxy *proxy = Proxy::instance()) {
    {
      HostWait wait;
      cudaDeviceSynchronize();
    }
    peer::Links &links = *peer::Links::instance();
    links.unmap_others();
    // Ranks that are not there yet may be waiting for this one: they are told that it has finished.
    proxy->wait_for_all_ranks();
    links.report_statistics();
    links.report_leftovers();
    peer::Links::stop();
    Proxy::stop();
    gpu_aware::stop();
  }
  remove_error_handler();
  return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm communicator, int error_code) {
  expect_exit();
  return PMPI_Abort(communicator, error_code);
}

int MPI_Comm_free(MPI_Comm *communicator) {
  release_communicator(*communicator);
  return PMPI_Comm_free(communicator);
}

int MPI_Comm_disconnect(MPI_Comm *communicator) {
  release_communicator(*communicator);
  return PMPI_Comm_disconnect(communicator);
}

int MPI_Comm_set_info(MPI_Comm communicator, MPI_Info info) {
  int error = PMPI_Comm_set_info(communicator, info);
  if (error == MPI_SUCCESS && info != MPI_INFO_NULL)
    consider_peer(communicator, info);
  return error;
}

/// Tells what is in use.
int MPI_Comm_get_info(MPI_Comm communicator, MPI_Info *info) {
  int error = PMPI_Comm_get_info(communicator, info);
  peer::Links *links = peer::Links::instance();
  if (error == MPI_SUCCESS && links != nullptr)
    error = PMPI_Info_set(*info, kernel_only, links->has(communicator) ? "true" : "false");
  return error;
}

int MPI_Comm_dup(MPI_Comm communicator, MPI_Comm *made) {
  int error = PMPI_Comm_dup(communicator, made);
  if (error == MPI_SUCCESS && settings().peer)
    consider_peer(*made, MPI_INFO_NULL);
  return error;
}

int MPI_Comm_dup_with_info(MPI_Comm communicator, MPI_Info info, MPI_Comm *made) {
  int error = PMPI_Comm_dup_with_info(communicator, info, made);
  if (error == MPI_SUCCESS)
    consider_peer(*made, info);
  return error;
}

int MPI_Comm_split(MPI_Comm communicator, int color, int key, MPI_Comm *made) {
  int error = PMPI_Comm_split(communicator, color, key, made);
  if (error == MPI_SUCCESS && settings().peer)
    consider_peer(*made, MPI_INFO_NULL);
  return error;
}

int MPI_Comm_set_errhandler(MPI_Comm communicator, MPI_Errhandler handler) {
  return PMPI_Comm_set_errhandler(communicator, handler_to_set(handler));
}

int MPI_Comm_get_errhandler(MPI_Comm communicator, MPI_Errhandler *handler) {
  int error = PMPI_Comm_get_errhandler(communicator, handler);
  if (error == MPI_SUCCESS)
    *handler = handler_to_tell(*handler);
  return error;
}

int MPI_Errhandler_free(MPI_Errhandler *handler) {
  MPI_Errhandler meant = handler_to_free(*handler);
  int error = PMPI_Errhandler_free(&meant);
  if (error == MPI_SUCCESS)
    *handler = MPI_ERRHANDLER_NULL;
  return error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  if (is_kernel_request(*request))
    return wait_for_kernel_request(request, status);
  int error = PMPI_Wait(request, status);
  note_host_progress();
  return error;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  if (!is_kernel_request(*request))
    return PMPI_Test(request, done, status);
  int error = MPI_SUCCESS;
  *done = test_kernel_request(request, status, error, false);
  return error;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (std::none_of(requests, requests + count, is_kernel_request)) {
    int error = PMPI_Waitall(count, requests, statuses);
    note_host_progress();
    return error;
  }
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
    int error = MPI_Wait(requests + i, status);
    if (status != MPI_STATUS_IGNORE)
      status->MPI_ERROR = error;
    if (error != MPI_SUCCESS)
      result = statuses == MPI_STATUSES_IGNORE ? error : MPI_ERR_IN_STATUS;
  }
  return result;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  refuse_kernel_requests("MPI_Waitany", count, requests);
  return PMPI_Waitany(count, requests, index, status);
}

int MPI_Waitsome(int count, MPI_Request requests[], int *completed, int indices[],
                 MPI_Status statuses[]) {
  refuse_kernel_requests("MPI_Waitsome", count, requests);
  return PMPI_Waitsome(count, requests, completed, indices, statuses);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *done, MPI_Status *status) {
  refuse_kernel_requests("MPI_Testany", count, requests);
  return PMPI_Testany(count, requests, index, done, status);
}

int MPI_Testsome(int count, MPI_Request requests[], int *completed, int indices[],
                 MPI_Status statuses[]) {
  refuse_kernel_requests("MPI_Testsome", count, requests);
  return PMPI_Testsome(count, requests, completed, indices, statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
  refuse_kernel_requests("MPI_Testall", count, requests);
  return PMPI_Testall(count, requests, done, statuses);
}

int MPI_Request_free(MPI_Request *request) {
  refuse_kernel_requests("MPI_Request_free", 1, request);
  return PMPI_Request_free(request);
}

int MPI_Cancel(MPI_Request *request) {
  refuse_kernel_requests("MPI_Cancel", 1, request);
  return PMPI_Cancel(request);
}

} // extern "C"

// The collectives of functions.def.
#define GMPI_PARAMETER(role) argument::role role
#define GMPI_ASSIGN(role) arguments.role = role;
#define GMPI_WRAP_collective(name, roles)                                                          \
  extern "C" int MPI_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {                                    \
    Arguments arguments{};                                                                         \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return host_collective(Function::name, arguments);                                             \
  }
#define GMPI_WRAP_blocking(name, roles)
#define GMPI_WRAP_nonblocking(name, roles)
#define GMPI_WRAP_completion(name, roles)
#define GMPI_WRAP_local(name, roles)
#define GMPI_WRAP_terminal(name, roles)
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_WRAP_##kind(name, roles)
#include "functions.def"
