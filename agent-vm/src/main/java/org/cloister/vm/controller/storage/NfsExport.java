package org.cloister.vm.controller.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;

/**
 * Access of one worker to the project's storage: all of it as one user, regardless of the user that the worker sends,
 * since root in the worker controls its kernel. What that user may not read stays closed.
 *
 * @param worker its address, which the tunnel enforces
 * @param uid of the job's user
 */
public record NfsExport(Ipv4Address worker, int uid, int gid, boolean readOnly) {
    private static final int MIN_ID = 1000;
    private static final int MAX_ID = 60_000;

    /** @throws IllegalArgumentException for the numbers of root and daemons */
    public NfsExport {
        if (uid < MIN_ID || uid > MAX_ID || gid < MIN_ID || gid > MAX_ID) {
            throw new IllegalArgumentException("export to " + worker + ": want uid and gid from " + MIN_ID + " to "
                    + MAX_ID + ", have " + uid + " and " + gid);
        }
    }

    /**
     * Returns the options for exportfs. The export is the one root of what can be mounted, so that no file system above
     * it has to be exported.
     */
    String options() {
        return (readOnly ? "ro" : "rw") + ",sync,fsid=0,no_subtree_check,secure,sec=sys,root_squash,all_squash,anonuid="
                + uid + ",anongid=" + gid;
    }

    /**
     * A line of {@code /var/lib/nfs/etab}: what exportfs has passed to the kernel.
     *
     * @param path as in the line
     * @param client an address, a name, or {@code *}
     */
    record EtabEntry(String path, String client, Set<String> options) {
        private static final Pattern FORM = Pattern.compile("(\\S+)[ \t]+([^\\s()]+)\\(([^()\\s]*)\\)");

        EtabEntry {
            options = Set.copyOf(options);
        }

        static List<EtabEntry> parse(String etab) throws IOException {
            List<EtabEntry> lines = new ArrayList<>();
            for (String text : etab.lines().toList()) {
                Matcher match = FORM.matcher(text);
                if (!match.matches()) {
                    throw new IOException("etab: want PATH CLIENT(OPTIONS), have \"" + text.replaceAll("[^ -~]", "?")
                            + "\"; run exportfs -ua");
                }
                lines.add(new EtabEntry(
                        match.group(1),
                        match.group(2),
                        new TreeSet<>(Arrays.asList(match.group(3).split(",", -1)))));
            }
            return lines;
        }

        /**
         * Returns whether the line permits the worker what the export states and nothing more. etab also has defaults.
         */
        boolean matches(NfsExport export, String root) {
            return path.equals(root)
                    && client.equals(export.worker().toString())
                    && options.containsAll(Set.of(export.options().split(",", -1)));
        }
    }
}
