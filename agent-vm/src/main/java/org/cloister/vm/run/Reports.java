package org.cloister.vm.run;

import java.io.IOException;
import org.cloister.vm.boot.BootPhase;
import org.cloister.vm.boot.BootStatus;
import org.cloister.vm.volume.Volumes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a controlling VM says of itself, for whoever looks from within. */
record Reports(BootStatus status, Volumes volumes) {
    private static final Logger LOG = LoggerFactory.getLogger(Reports.class);

    void reached(BootPhase phase) {
        try {
            status.reached(phase);
        } catch (IOException e) {
            LOG.warn("status: not written: {}; see the folder it is in", e.toString());
        }
    }
}
