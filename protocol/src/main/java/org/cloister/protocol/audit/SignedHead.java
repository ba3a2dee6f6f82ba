package org.cloister.protocol.audit;

import org.cloister.protocol.dsse.Envelope;

/** A head and the signatures that hold for it. */
public record SignedHead(AuditHead head, Envelope envelope) {}
