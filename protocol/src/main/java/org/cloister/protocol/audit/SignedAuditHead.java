package org.cloister.protocol.audit;

import org.cloister.protocol.dsse.DsseEnvelope;

/** Audit head and its envelope, whose signature was verified. */
public record SignedAuditHead(AuditHead head, DsseEnvelope envelope) {}
