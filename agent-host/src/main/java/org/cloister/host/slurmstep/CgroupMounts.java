package org.cloister.host.slurmstep;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.base.mount.MountedFileSystem;

/**
 * Mount points of cgroup hierarchies, from {@code /proc/self/mountinfo}, proc(5). Of several mounts of one hierarchy
 * the first is used.
 */
final class CgroupMounts {
    private static final int MAX_CHARS = 4 << 20;
    /** Options of version 1 that name no controller. */
    private static final Set<String> NO_CONTROLLERS = Set.of("rw", "ro", "xattr", "noprefix", "clone_children");

    private record Mount(Set<String> controllers, Path at) {}

    private final List<Mount> all;

    private CgroupMounts(List<Mount> all) {
        this.all = all;
    }

    static CgroupMounts parse(String text) throws IOException {
        if (text.length() > MAX_CHARS) {
            throw new IOException("mountinfo: want at most " + MAX_CHARS + " bytes, have more");
        }
        List<Mount> all = new ArrayList<>();
        for (MountedFileSystem mount : MountedFileSystem.parse(text)) {
            boolean second = mount.type().equals("cgroup2");
            // A mount of a part of the hierarchy, such as in a container, has other paths than /proc/PID/cgroup.
            if ((second || mount.type().equals("cgroup")) && mount.root().equals("/")) {
                all.add(new Mount(second ? Set.of() : controllers(mount.fileSystemOptions()), mount.mountPoint()));
            }
        }
        return new CgroupMounts(all);
    }

    private static Set<String> controllers(List<String> options) {
        Set<String> controllers = new TreeSet<>();
        for (String each : options) {
            if (!NO_CONTROLLERS.contains(each) && !each.startsWith("release_agent=")) {
                controllers.add(each);
            }
        }
        return controllers;
    }

    /**
     * Returns the mount point of a hierarchy.
     *
     * @param controllers as in {@code /proc/PID/cgroup}
     * @throws NotInJobStep if that hierarchy is not mounted as a whole
     */
    Path root(String controllers) throws NotInJobStep {
        Set<String> expected =
                controllers.isEmpty() ? Set.of() : new TreeSet<>(Arrays.asList(controllers.split(",", -1)));
        return all.stream()
                .filter(mount -> mount.controllers.equals(expected))
                .map(Mount::at)
                .findFirst()
                .orElseThrow(() -> new NotInJobStep(
                        "cgroup hierarchy " + (controllers.isEmpty() ? "of version 2" : controllers)
                                + " is not mounted on this host",
                        "mount it below /sys/fs/cgroup"));
    }

    /** Returns the mount points of all hierarchies, each once. */
    List<Path> roots() {
        Map<Set<String>, Path> roots = new LinkedHashMap<>();
        all.forEach(mount -> roots.putIfAbsent(mount.controllers, mount.at));
        return List.copyOf(roots.values());
    }
}
