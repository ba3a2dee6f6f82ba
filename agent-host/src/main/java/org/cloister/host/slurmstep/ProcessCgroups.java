package org.cloister.host.slurmstep;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.slurm.LogText;

/**
 * Cgroups of a process, one for each hierarchy, from {@code /proc/PID/cgroup}, cgroups(7).
 *
 * @param memberships hierarchies in the file's order, each once
 */
record ProcessCgroups(List<Membership> memberships) {
    private static final int MAX_CHARS = 64 << 10;
    private static final int MAX_HIERARCHIES = 64;
    /** Form of a line. The creator of a cgroup chooses its path, but paths of ours contain no newline. */
    private static final Pattern LINE = Pattern.compile("([0-9]{1,4}):([a-z0-9_=,]{0,200}):(/[^\\n]{0,4095})");

    /**
     * Membership in one hierarchy.
     *
     * @param controllers such as {@code memory} or {@code cpu,cpuacct}; empty for version 2
     * @param path from the hierarchy's root, as the reader's cgroup namespace shows it
     */
    record Membership(String controllers, String path) {}

    ProcessCgroups {
        memberships = List.copyOf(memberships);
    }

    /**
     * Parses the file.
     *
     * @throws IOException if the text does not have that form
     */
    static ProcessCgroups parse(String text) throws IOException {
        if (text.length() > MAX_CHARS) {
            throw new IOException("cgroups of a process: want at most " + MAX_CHARS + " bytes, have more");
        }
        List<Membership> memberships = new ArrayList<>();
        Set<String> hierarchies = new HashSet<>();
        for (String line : text.split("\n", -1)) {
            if (line.isEmpty()) {
                continue;
            }
            Matcher form = LINE.matcher(line);
            if (!form.matches() || !hierarchies.add(form.group(2)) || memberships.size() >= MAX_HIERARCHIES) {
                throw new IOException(
                        "cgroups of a process: want lines of ID:CONTROLLERS:/PATH, each hierarchy once, have "
                                + LogText.printable(line));
            }
            memberships.add(new Membership(form.group(2), form.group(3)));
        }
        return new ProcessCgroups(memberships);
    }
}
