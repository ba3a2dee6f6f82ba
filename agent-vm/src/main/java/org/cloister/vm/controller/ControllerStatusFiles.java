package org.cloister.vm.controller;

import org.cloister.vm.boot.AgentVmPhase;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.system.volume.VolumeStatusFile;

/** Status files of a controlling VM, for readers inside the VM. */
public record ControllerStatusFiles(AgentVmStatusFile status, VolumeStatusFile volumes) {
    void writePhase(AgentVmPhase phase) {
        status.reportPhase(phase);
    }
}
