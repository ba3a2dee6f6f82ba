package org.cloister.vm.system.mount;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that keeps a file system from being unmounted.
 *
 * @param name that the process gave itself, in printable ASCII
 */
public record MountHolder(long pid, String name) {
    /** Bound of the links that are read for one process. */
    private static final int MAX_LINKS = 4096;
    /** Bound of the holders that are reported; the first few suffice. */
    private static final int MAX = 16;

    /**
     * Returns the processes that have a folder, file or program of the file system open. Reads links without following
     * them, since their targets may not respond.
     */
    static List<MountHolder> of(Path folder) {
        List<MountHolder> holders = new ArrayList<>();
        ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .filter(pid -> holds(Path.of("/proc", Long.toString(pid)), folder))
                .limit(MAX)
                .forEach(pid -> holders.add(new MountHolder(pid, name(pid))));
        return holders;
    }

    @Override
    public String toString() {
        return pid + " (" + name + ")";
    }

    private static boolean holds(Path process, Path folder) {
        for (String link : new String[] {"cwd", "root", "exe"}) {
            if (leadsTo(process.resolve(link), folder)) {
                return true;
            }
        }
        int links = 0;
        for (String kind : new String[] {"fd", "map_files"}) {
            try (DirectoryStream<Path> open = Files.newDirectoryStream(process.resolve(kind))) {
                for (Path link : open) {
                    if (links++ < MAX_LINKS && leadsTo(link, folder)) {
                        return true;
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                // The process has ended.
                return false;
            }
        }
        return false;
    }

    private static boolean leadsTo(Path link, Path folder) {
        try {
            return Files.readSymbolicLink(link).startsWith(folder);
        } catch (IOException e) {
            // A kernel thread, or a process that has ended.
            return false;
        }
    }

    private static String name(long pid) {
        try {
            byte[] name = Files.readAllBytes(Path.of("/proc", Long.toString(pid), "comm"));
            return new String(name, StandardCharsets.ISO_8859_1).strip().replaceAll("[^ -~]", "?");
        } catch (IOException e) {
            return "?";
        }
    }
}
