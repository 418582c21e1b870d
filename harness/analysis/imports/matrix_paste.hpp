#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

using Words = std::vector<std::string>;

/// The words of one line, of which `number` is 1 for the first.
struct PastedLine {
  int number = 0;
  Words words;
};

bool is_gpu_name(std::string_view word);

/// "GPU0", "mlx5_0", "ib2", "NIC11", "rocep1s0": a letter first, a digit somewhere, no class.
bool is_matrix_name(std::string_view word);

/// A class that nvidia-smi's matrix may have, up to SYS.
bool is_matrix_class(std::string_view word);

/// Whether words are the header of a matrix: names of devices, the first one a GPU's, and then
/// columns of affinities or nothing.
bool is_matrix_header(const Words& words);

/// The lines that are not empty, as nvidia-smi has printed them before terminals, mails, issues and
/// Markdown changed them: without escapes, whatever kind of blank stands between the words, without
/// the bars of a table. The header and the rows of the first matrix are whole again: what was
/// wrapped onto the next line is joined, and names and cells that have grown together are split
/// where there is one way to do so.
std::vector<PastedLine> pasted_lines(std::string_view text);

/// Whether the header of a matrix is in the text.
bool has_matrix(std::string_view text);

/// Throws Failure(Exit::usage) where the text is what another tool or option printed, by its name
/// and with what to give instead. `no_matrix` says that no matrix was found: then it may be the
/// output of a tool that can also stand beside one.
void refuse_other_output(std::string_view text, bool no_matrix);

}  // namespace ucxbench
