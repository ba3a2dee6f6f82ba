package org.cloister.vm.storage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.cloister.vm.machine.Programs;

/** What a controlling VM exports: its storage, to each worker that it has handed keys to, and to nobody else. */
public final class Exports {
    private static final String TABLE = "/var/lib/nfs/etab";

    private final Programs programs;
    private final Path root;

    /** @param root of the project's storage, a mount of its own */
    public Exports(Programs programs, Path root) {
        this.programs = programs;
        this.root = root;
    }

    /** When a worker is handed over. Once more changes nothing; with another user it replaces. */
    public void add(Export export) throws IOException {
        programs.succeed("exportfs", "-i", "-o", export.options(), export.worker() + ":" + root);
        if (present().stream().noneMatch(line -> line.is(export, root.toString()))) {
            throw new IOException("export to " + export.worker() + ": want " + export.options() + " in " + TABLE
                    + ", have it not; run exportfs -v");
        }
    }

    /** When a worker ends: the next thing that it asks for is refused, on files that it has open too. */
    public void remove(Export export) throws IOException {
        for (Export.Line line : present()) {
            if (line.client().equals(export.worker().toString())) {
                remove(line);
            }
        }
    }

    /** Exactly these, whatever an agent that was killed, or somebody else, has left. */
    public void reconcile(Collection<Export> wanted) throws IOException {
        for (Export.Line line : present()) {
            if (wanted.stream().noneMatch(export -> line.is(export, root.toString()))) {
                remove(line);
            }
        }
        List<Export.Line> left = present();
        for (Export export : wanted) {
            if (left.stream().noneMatch(line -> line.is(export, root.toString()))) {
                add(export);
            }
        }
    }

    private void remove(Export.Line line) throws IOException {
        programs.succeed("exportfs", "-u", line.client() + ":" + line.path());
        // Answers that the kernel has kept would serve on.
        programs.succeed("exportfs", "-f");
        if (present().contains(line)) {
            throw new IOException("export to " + line.client() + ": want none, have it still; run exportfs -v");
        }
    }

    private List<Export.Line> present() throws IOException {
        Programs.Output table = programs.run("cat", TABLE);
        if (table.exit() != 0 && programs.run("test", "-e", TABLE).exit() == 0) {
            throw new IOException(TABLE + ": " + table.complaint());
        }
        return Export.Line.parse(table.out());
    }
}
