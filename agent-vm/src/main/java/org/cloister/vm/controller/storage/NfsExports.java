package org.cloister.vm.controller.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.cloister.base.process.ProcessRunner;

/** What a controlling VM exports: its storage, to each worker that it has handed keys to, and to nobody else. */
public final class NfsExports {
    private static final String TABLE = "/var/lib/nfs/etab";

    private final ProcessRunner programs;
    private final Path root;

    /** @param root of the project's storage, a mount of its own */
    public NfsExports(ProcessRunner programs, Path root) {
        this.programs = programs;
        this.root = root;
    }

    /** When a worker is handed over. Once more changes nothing; with another user it replaces. */
    public void add(NfsExport export) throws IOException {
        programs.runChecked("exportfs", "-i", "-o", export.options(), export.worker() + ":" + root);
        if (present().stream().noneMatch(line -> line.matches(export, root.toString()))) {
            throw new IOException("export to " + export.worker() + ": want " + export.options() + " in " + TABLE
                    + ", have it not; run exportfs -v");
        }
    }

    /** When a worker ends: the next thing that it asks for is refused, on files that it has open too. */
    public void remove(NfsExport export) throws IOException {
        for (NfsExport.EtabEntry line : present()) {
            if (line.client().equals(export.worker().toString())) {
                remove(line);
            }
        }
    }

    /** Exactly these, whatever an agent that was killed, or somebody else, has left. */
    public void reconcile(Collection<NfsExport> wanted) throws IOException {
        for (NfsExport.EtabEntry line : present()) {
            if (wanted.stream().noneMatch(export -> line.matches(export, root.toString()))) {
                remove(line);
            }
        }
        List<NfsExport.EtabEntry> left = present();
        for (NfsExport export : wanted) {
            if (left.stream().noneMatch(line -> line.matches(export, root.toString()))) {
                add(export);
            }
        }
    }

    private void remove(NfsExport.EtabEntry line) throws IOException {
        programs.runChecked("exportfs", "-u", line.client() + ":" + line.path());
        // Answers that the kernel has kept would serve on.
        programs.runChecked("exportfs", "-f");
        if (present().contains(line)) {
            throw new IOException("export to " + line.client() + ": want none, have it still; run exportfs -v");
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
