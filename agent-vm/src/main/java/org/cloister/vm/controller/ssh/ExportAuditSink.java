package org.cloister.vm.controller.ssh;

import java.io.IOException;
import org.cloister.protocol.audit.AuditEvent;

/** Records each export before the data leave the project. */
@FunctionalInterface
public interface ExportAuditSink {
    /**
     * Records an event.
     *
     * @throws IOException if the record is not on the disk; nothing is sent then
     */
    void append(AuditEvent event) throws IOException;
}
