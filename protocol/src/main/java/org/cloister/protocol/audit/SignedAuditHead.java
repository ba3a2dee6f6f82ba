package org.cloister.protocol.audit;

import org.cloister.protocol.dsse.DsseEnvelope;

/** A head and the signatures that hold for it. */
public record SignedAuditHead(AuditHead head, DsseEnvelope envelope) {}
