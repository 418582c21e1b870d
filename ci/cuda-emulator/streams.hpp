#pragma once

namespace emulator {

struct Stream;

/// Whether a handle is a stream's: 0 and the two special ones are.
bool is_stream(const Stream* stream);

}  // namespace emulator
