package org.cloister.protocol.evidence;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;

/** Signs statements with a host's identity, one a VM life. What it signs is on disk before it is signed. */
public final class Issuer {
    private final String host;
    private final SigningKey key;
    private final StatementRecord record;

    public Issuer(String host, SigningKey key, StatementRecord record) {
        this.host = host;
        this.key = key;
        this.record = record;
    }

    /**
     * @param facts from the host's ledger
     * @param claim from the VM's own pipe
     * @return the same payload each time for the same facts and claim
     * @throws StatementRefused if this life has another statement
     * @throws IOException if it cannot be recorded, or what is recorded cannot be read; nothing is signed then
     */
    public synchronized Envelope issue(VmFacts facts, Claim claim, List<Attachment> attachments, Instant now)
            throws IOException, GeneralSecurityException {
        Optional<byte[]> recorded = record.find(facts.vm());
        Optional<Statement> before = Optional.empty();
        if (recorded.isPresent()) {
            before = Optional.of(read(facts.vm(), recorded.get()));
        }
        Issuance decision = Issuance.decide(host, facts, claim, attachments, before, now);
        if (decision instanceof Issuance.Refused refused) {
            throw new StatementRefused(refused.reason());
        }
        if (decision instanceof Issuance.First first) {
            byte[] payload = first.statement().json();
            record.keep(facts.vm(), payload);
            return Envelope.sign(Statement.TYPE, payload, key);
        }
        return Envelope.sign(Statement.TYPE, recorded.orElseThrow(), key);
    }

    private static Statement read(String vm, byte[] payload) throws MalformedException {
        try {
            return Statement.parse(payload);
        } catch (MalformedException e) {
            throw new MalformedException(
                    "recorded evidence for VM " + vm + ": " + e.getMessage() + "; the VM gets none, start it anew", e);
        }
    }
}
