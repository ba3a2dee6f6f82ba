package org.cloister.protocol.evidence;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;

/** Signs statements with a host's key, one per life of a VM. Each statement is on disk before it is signed. */
public final class EvidenceStatementSigner {
    private final String host;
    private final SigningKey key;
    private final EvidenceStore record;

    public EvidenceStatementSigner(String host, SigningKey key, EvidenceStore record) {
        this.host = host;
        this.key = key;
        this.record = record;
    }

    /**
     * Signs the statement of a VM's life, or signs its recorded statement again.
     *
     * @param facts from the host's ledger
     * @param claim from the VM's own channel
     * @return the same payload each time for the same facts and claim
     * @throws IssuanceRefusedException if this life has another statement
     * @throws IOException if the statement cannot be recorded, or the recorded one cannot be read; then nothing is
     *     signed
     */
    public synchronized DsseEnvelope issue(
            VmFacts facts, AttestationClaims claim, List<PlatformEvidence> attachments, Instant now)
            throws IOException, GeneralSecurityException {
        Optional<byte[]> recorded = record.find(facts.vm());
        Optional<EvidenceStatement> before = Optional.empty();
        if (recorded.isPresent()) {
            before = Optional.of(read(facts.vm(), recorded.get()));
        }
        IssuanceDecision decision = IssuanceDecision.decide(host, facts, claim, attachments, before, now);
        if (decision instanceof IssuanceDecision.Refused refused) {
            throw new IssuanceRefusedException(refused.reason());
        }
        if (decision instanceof IssuanceDecision.First first) {
            byte[] payload = first.statement().json();
            record.store(facts.vm(), payload);
            return DsseEnvelope.sign(EvidenceStatement.TYPE, payload, key);
        }
        return DsseEnvelope.sign(EvidenceStatement.TYPE, recorded.orElseThrow(), key);
    }

    private static EvidenceStatement read(String vm, byte[] payload) throws MalformedException {
        try {
            return EvidenceStatement.parse(payload);
        } catch (MalformedException e) {
            throw new MalformedException(
                    "recorded evidence for VM " + vm + ": " + e.getMessage() + "; the VM gets none, start it anew", e);
        }
    }
}
