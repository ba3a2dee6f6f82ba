package org.cloister.host.receipts;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.receipt.HostStatement;

/** Worker VMs, and what is signed of them. */
final class HostStatementSamples {
    static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    static final SigningKey KEY = key();
    static final Digest TICKET = Digest.sha256(new byte[] {7});
    static final ResourceOwner OWNER = owner(1);

    private HostStatementSamples() {}

    static ResourceOwner owner(int number) {
        return new ResourceOwner(
                "a".repeat(52),
                "b".repeat(20)
                        + String.format("%06d", number)
                                .replace('0', 'c')
                                .replace('1', 'd')
                                .replace('8', 'e')
                                .replace('9', 'f'),
                3,
                4711,
                String.format("%08x-0000-4000-8000-000000000000", number));
    }

    static VmFacts facts(ResourceOwner owner, long scratchMib) {
        return facts(owner, VmRole.WORKER, scratchMib);
    }

    static VmFacts facts(ResourceOwner owner, VmRole role, long scratchMib) {
        return new VmFacts(
                owner.project(),
                owner.vmId(),
                role,
                owner.ticket(),
                owner.slot(),
                Digest.sha384("an image"),
                new VmShape(4, 4416, scratchMib),
                HostSharing.NONE);
    }

    static VmLedgerEntry entry(ResourceOwner owner, VmStartStep step, VmTermination.Why why) {
        VmLedgerEntry claimed = VmLedgerEntry.claim(owner, true, NOW.toEpochMilli());
        return new VmLedgerEntry(
                owner,
                claimed.scratch(),
                claimed.claimedMs(),
                step,
                Optional.of(new VmTermination(why, "", NOW.toEpochMilli())));
    }

    /** The signature holds, or it throws. */
    static HostStatement part(byte[] envelope) throws IOException {
        return HostStatement.parse(DsseEnvelope.parse(envelope, HostStatement.MAX_BYTES)
                .verify(HostStatement.TYPE, List.of(KEY.verificationKey()), 1));
    }

    private static SigningKey key() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P256.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
