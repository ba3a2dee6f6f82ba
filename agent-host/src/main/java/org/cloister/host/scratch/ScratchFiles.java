package org.cloister.host.scratch;

import java.util.List;
import java.util.Set;
import org.cloister.host.vm.ResourceOwner;

/**
 * Content of a scratch folder.
 *
 * @param unknown names of files that are not our scratch files, which are never changed
 */
public record ScratchFiles(List<ScratchFile> all, Set<String> unknown) {
    /**
     * Scratch file of a VM.
     *
     * @param bytes as the VM sees it, not as the file system counts it
     */
    public record ScratchFile(ResourceOwner owner, long bytes) {}

    public ScratchFiles {
        all = List.copyOf(all);
        unknown = Set.copyOf(unknown);
    }

    long bytes() {
        return all.stream().mapToLong(ScratchFile::bytes).sum();
    }
}
