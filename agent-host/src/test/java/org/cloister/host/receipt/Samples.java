package org.cloister.host.receipt;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Step;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.receipt.HostPart;

/** Worker VMs, and what is signed of them. */
final class Samples {
    static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    static final SigningKey KEY = key();
    static final Digest TICKET = Digest.sha256(new byte[] {7});
    static final VmOwner OWNER = owner(1);

    private Samples() {}

    static VmOwner owner(int number) {
        return new VmOwner(
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

    static VmFacts facts(VmOwner owner, long scratchMib) {
        return facts(owner, VmRole.WORKER, scratchMib);
    }

    static VmFacts facts(VmOwner owner, VmRole role, long scratchMib) {
        return new VmFacts(
                owner.project(),
                owner.life(),
                role,
                owner.ticket(),
                owner.slot(),
                Digest.sha384("an image"),
                new Shape(4, 4416, scratchMib),
                Sharing.NONE);
    }

    static Entry entry(VmOwner owner, Step step, End.Why why) {
        Entry claimed = Entry.claim(owner, true, NOW.toEpochMilli());
        return new Entry(
                owner, claimed.scratch(), claimed.claimedMs(), step, Optional.of(new End(why, "", NOW.toEpochMilli())));
    }

    /** The signature holds, or it throws. */
    static HostPart part(byte[] envelope) throws IOException {
        return HostPart.parse(
                Envelope.parse(envelope, HostPart.MAX_BYTES).verify(HostPart.TYPE, List.of(KEY.verificationKey()), 1));
    }

    private static SigningKey key() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(Curve.P256.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
