package org.cloister.vm.controller.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.base.process.ProcessRunner;

/** The exports of a controlling VM: its storage, to each worker that received a hand-over, and to no other machine. */
public final class NfsExports {
    private static final String TABLE = "/var/lib/nfs/etab";

    private final ProcessRunner programs;
    private final Path root;

    /** @param root of the project's storage, a separate mount */
    public NfsExports(ProcessRunner programs, Path root) {
        this.programs = programs;
        this.root = root;
    }

    /**
     * Adds exports at the hand-overs of workers, with one run of exportfs for all with the same user. A repeated call
     * changes nothing; one with another user replaces the export.
     */
    public void add(Collection<NfsExport> exports) throws IOException {
        Map<String, List<NfsExport>> byOptions = exports.stream()
                .collect(Collectors.groupingBy(NfsExport::options, LinkedHashMap::new, Collectors.toList()));
        for (Map.Entry<String, List<NfsExport>> each : byOptions.entrySet()) {
            List<String> command = new ArrayList<>(List.of("exportfs", "-i", "-o", each.getKey()));
            each.getValue().forEach(export -> command.add(export.worker() + ":" + root));
            programs.runChecked("", command);
        }
        List<NfsExport.EtabEntry> present = present();
        for (NfsExport export : exports) {
            if (present.stream().noneMatch(line -> line.matches(export, root.toString()))) {
                throw new IOException("export to " + export.worker() + ": " + TABLE + " does not have "
                        + export.options() + "; run exportfs -v");
            }
        }
    }

    /** Removes exports at the end of workers: their next request is refused, also on files that they have open. */
    public void remove(Collection<NfsExport> exports) throws IOException {
        Set<String> clients =
                exports.stream().map(export -> export.worker().toString()).collect(Collectors.toSet());
        removeEntries(present().stream()
                .filter(line -> clients.contains(line.client()))
                .toList());
    }

    /** Makes the exports exactly these, whatever a killed agent or another program has left. */
    public void reconcile(Collection<NfsExport> exports) throws IOException {
        removeEntries(present().stream()
                .filter(line -> exports.stream().noneMatch(export -> line.matches(export, root.toString())))
                .toList());
        List<NfsExport.EtabEntry> remaining = present();
        add(exports.stream()
                .filter(export -> remaining.stream().noneMatch(line -> line.matches(export, root.toString())))
                .toList());
    }

    private void removeEntries(List<NfsExport.EtabEntry> lines) throws IOException {
        if (lines.isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("exportfs", "-u"));
        lines.forEach(line -> command.add(line.client() + ":" + line.path()));
        programs.runChecked("", command);
        // Answers cached by the kernel would remain in use.
        programs.runChecked("exportfs", "-f");
        List<NfsExport.EtabEntry> present = present();
        for (NfsExport.EtabEntry line : lines) {
            if (present.contains(line)) {
                throw new IOException(
                        "export to " + line.client() + ": it was removed and still exists; run exportfs -v");
            }
        }
    }

    private List<NfsExport.EtabEntry> present() throws IOException {
        ProcessRunner.Output table = programs.run("cat", TABLE);
        if (table.exit() != 0 && programs.run("test", "-e", TABLE).exit() == 0) {
            throw new IOException(TABLE + ": " + table.errorSummary());
        }
        return NfsExport.EtabEntry.parse(table.out());
    }
}
