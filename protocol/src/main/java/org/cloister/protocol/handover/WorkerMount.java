package org.cloister.protocol.handover;

import java.util.List;

/**
 * Folder of the project's storage that a worker mounts.
 *
 * @param export its path in the controlling VM
 * @param point its path in the worker
 */
public record WorkerMount(FolderPath export, FolderPath point, boolean readOnly) {
    static final int MAX = 16;

    /** @throws IllegalArgumentException if the mount point is a folder of the worker's image */
    public WorkerMount {
        point.requireInWorker("mount point");
    }

    static WorkerMount read(org.cloister.protocol.handover.wire.Mount wire) {
        return new WorkerMount(new FolderPath(wire.getExport()), new FolderPath(wire.getPoint()), wire.getReadOnly());
    }

    org.cloister.protocol.handover.wire.Mount wire() {
        return org.cloister.protocol.handover.wire.Mount.newBuilder()
                .setExport(export.text())
                .setPoint(point.text())
                .setReadOnly(readOnly)
                .build();
    }

    /** Checks that no mount hides another, whatever the order in which they are mounted. */
    static void requireApart(List<WorkerMount> mounts) {
        HandoverChecks.within("mounts", mounts.size(), 0, MAX);
        for (int i = 0; i < mounts.size(); i++) {
            for (int j = 0; j < mounts.size(); j++) {
                HandoverChecks.that(
                        i == j || !mounts.get(i).point.contains(mounts.get(j).point),
                        "mounts",
                        "none at or in another",
                        mounts.get(j).point);
            }
        }
    }
}
