package org.cloister.host.disk;

import java.util.List;
import java.util.Set;
import org.cloister.host.vm.VmOwner;

/**
 * What lies in a scratch folder.
 *
 * @param strange names of what is no scratch file of ours; never touched
 */
public record Scratches(List<Scratch> all, Set<String> strange) {
    /** @param bytes as the VM sees it, not as the file system counts it */
    public record Scratch(VmOwner owner, long bytes) {}

    public Scratches {
        all = List.copyOf(all);
        strange = Set.copyOf(strange);
    }

    long bytes() {
        return all.stream().mapToLong(Scratch::bytes).sum();
    }
}
