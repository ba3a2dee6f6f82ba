package org.cloister.vm.controller;

import java.io.IOException;
import org.cloister.vm.boot.AgentVmPhase;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.system.volume.VolumeStatusFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Status files of a controlling VM, for readers inside the VM. */
public record ControllerStatusFiles(AgentVmStatusFile status, VolumeStatusFile volumes) {
    private static final Logger LOG = LoggerFactory.getLogger(ControllerStatusFiles.class);

    void writePhase(AgentVmPhase phase) {
        try {
            status.writePhase(phase);
        } catch (IOException e) {
            LOG.warn("status: not written: {}; see the folder it is in", e.toString());
        }
    }
}
