package org.cloister.ctl.ssh;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Block of agentctl in ssh_config(5), between two comments that name its host and its project.
 *
 * @param project the project's id
 * @param alias the host's name for ssh
 * @param text lines of the block, without the comments
 */
record SshConfigBlock(String project, String alias, String text) {
    private static final String BEGIN = "# begin of agentctl project ssh-config, host ";
    private static final String END = "# end of agentctl project ssh-config, host ";

    /**
     * Returns a configuration with this block, in the place of its former one or at the end.
     *
     * @param file subject of errors
     * @throws IOException if another block has the same host, so that ssh would read only one of them, or a block of
     *     agentctl has lost one of its comments
     */
    String putInto(String configuration, String file) throws IOException {
        List<String> lines = new ArrayList<>(Arrays.asList(configuration.split("\n", -1)));
        // What follows the last line's end is no line.
        if (lines.get(lines.size() - 1).isEmpty()) {
            lines.remove(lines.size() - 1);
        }
        int from = lines.indexOf(begin());
        int to = lines.indexOf(end());
        if ((from < 0) != (to < 0) || to < from || lines.lastIndexOf(begin()) != from) {
            throw new IOException(file + ": want the lines \"" + begin() + "\" and \"" + end()
                    + "\" once and in this order, or neither; delete what is left of the block");
        }
        List<String> block = new ArrayList<>();
        block.add(begin());
        block.addAll(text.lines().toList());
        block.add(end());
        if (from >= 0) {
            List<String> former = lines.subList(from, to + 1);
            former.clear();
        }
        requireOnly(lines, file);
        if (from < 0 && !lines.isEmpty()) {
            lines.add("");
        }
        lines.addAll(from < 0 ? lines.size() : from, block);
        return String.join("\n", lines) + "\n";
    }

    private String begin() {
        return BEGIN + alias + " of " + project;
    }

    private String end() {
        return END + alias + " of " + project;
    }

    /** Rejects a host of the same name outside of this block: ssh uses the first value that it reads. */
    private void requireOnly(List<String> others, String file) throws IOException {
        for (int i = 0; i < others.size(); i++) {
            String[] words = others.get(i).strip().split("[\\s=]+", -1);
            if (words[0].toLowerCase(Locale.ROOT).equals("host")
                    && Arrays.asList(words).subList(1, words.length).contains(alias)) {
                throw new IOException(file + ": line " + (i + 1) + " (without this project's block) has Host " + alias
                        + "; delete that block, or name another host with --host");
            }
        }
    }
}
