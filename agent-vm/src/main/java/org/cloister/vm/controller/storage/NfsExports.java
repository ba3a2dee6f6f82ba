package org.cloister.vm.controller.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
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
     * Adds an export at a worker's hand-over. A repeated call changes nothing; one with another user replaces the
     * export.
     */
    public void add(NfsExport export) throws IOException {
        programs.runChecked("exportfs", "-i", "-o", export.options(), export.worker() + ":" + root);
        if (present().stream().noneMatch(line -> line.matches(export, root.toString()))) {
            throw new IOException("export to " + export.worker() + ": " + TABLE + " does not have " + export.options()
                    + "; run exportfs -v");
        }
    }

    /** Removes an export at a worker's end: its next request is refused, also on files that it has open. */
    public void remove(NfsExport export) throws IOException {
        for (NfsExport.EtabEntry line : present()) {
            if (line.client().equals(export.worker().toString())) {
                remove(line);
            }
        }
    }

    /** Makes the exports exactly these, whatever a killed agent or another program has left. */
    public void reconcile(Collection<NfsExport> exports) throws IOException {
        for (NfsExport.EtabEntry line : present()) {
            if (exports.stream().noneMatch(export -> line.matches(export, root.toString()))) {
                remove(line);
            }
        }
        List<NfsExport.EtabEntry> remaining = present();
        for (NfsExport export : exports) {
            if (remaining.stream().noneMatch(line -> line.matches(export, root.toString()))) {
                add(export);
            }
        }
    }

    private void remove(NfsExport.EtabEntry line) throws IOException {
        programs.runChecked("exportfs", "-u", line.client() + ":" + line.path());
        // Answers cached by the kernel would remain in use.
        programs.runChecked("exportfs", "-f");
        if (present().contains(line)) {
            throw new IOException("export to " + line.client() + ": it was removed and still exists; run exportfs -v");
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
