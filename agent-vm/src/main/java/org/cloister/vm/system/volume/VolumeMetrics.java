package org.cloister.vm.system.volume;

/** Receives the sizes of a VM's volumes. */
@FunctionalInterface
public interface VolumeMetrics {
    /** Sets the size of an open volume and its used space, in bytes; both are 0 for a volume that is not open. */
    void setVolumeUsage(VolumeName name, long bytes, long used);
}
