package org.cloister.vm.system.volume;

import java.util.Locale;

/** A volume that a VM may have. */
public enum VolumeName {
    /** A worker's, under a key of its own. */
    SCRATCH,
    /** The project's, in its controlling VM. */
    DRIVE;

    /** Returns the word used in the status file and in metrics. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
