package org.cloister.vm.controller.ssh;

import java.io.IOException;
import org.cloister.protocol.audit.AuditEvent;

/** What goes out of the project is written here first. */
@FunctionalInterface
public interface ExportAuditSink {
    /** @throws IOException if it is not on the disk; nothing goes out then */
    void append(AuditEvent event) throws IOException;
}
