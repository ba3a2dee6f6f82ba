package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.ipsec.Certificate;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.vm.boot.BootKeyPairs;

/** Takes a hand-over or a readmission, or refuses it: it has to be for this VM, in answer to its evidence, and for the keys of this boot. */
final class Intake {
    private final Assignment assignment;
    private final BootKeyPairs keys;

    Intake(Assignment assignment, BootKeyPairs keys) {
        this.assignment = assignment;
        this.keys = keys;
    }

    /**
     * @param vm its id, as the host's statement has it
     * @param nonce of the question that the statement answered
     */
    HandedOver take(HandOver handOver, String vm, Nonce nonce) throws HandOverRefused {
        requirePlace(handOver.place(), handOver.name(), vm, nonce);
        require("controller", assignment.requester(), handOver.controller());
        Instant until = until(handOver.certificates(), handOver.time());
        try {
            return new HandedOver(
                    handOver,
                    handOver.certificates(),
                    List.of(),
                    handOver.time(),
                    until,
                    Credential.of(keys.signing(), der(handOver.certificates())),
                    keys.open(
                            handOver.sealingContext(),
                            handOver.mungeKey().bytes().toByteArray()),
                    handOver.lease(),
                    handOver.policy());
        } catch (IOException e) {
            throw new HandOverRefused("munge-key", String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * The same of a readmission.
     *
     * @param before what the worker has
     * @param fresh that the circuit was resumed with
     */
    HandedOver take(Readmission readmission, HandedOver before, String vm, Nonce fresh) throws HandOverRefused {
        requirePlace(readmission.place(), readmission.name(), vm, fresh);
        Instant until = until(readmission.certificates(), readmission.time());
        try {
            SecretMemory munge = readmission.mungeKey().isEmpty()
                    ? before.mungeKey()
                    : keys.open(
                            readmission.sealingContext(),
                            readmission.mungeKey().get().bytes().toByteArray());
            return new HandedOver(
                    before.handOver(),
                    readmission.certificates(),
                    holding(before.authorities(), readmission.time()),
                    readmission.time(),
                    until,
                    Credential.of(keys.signing(), der(readmission.certificates())),
                    munge,
                    readmission.lease(),
                    readmission.policy());
        } catch (IOException e) {
            throw new HandOverRefused("munge-key", String.valueOf(e.getMessage()), e);
        }
    }

    private static List<byte[]> der(List<ByteString> certificates) {
        return certificates.stream().map(ByteString::toByteArray).toList();
    }

    /** Of no certificate that has ended: what it issued has ended too. */
    private static List<ByteString> holding(List<ByteString> authorities, Instant now) throws IOException {
        List<ByteString> holding = new ArrayList<>();
        for (ByteString each : authorities) {
            if (now.isBefore(Certificate.parse(each.toByteArray()).notAfter())) {
                holding.add(each);
            }
        }
        return holding;
    }

    private void requirePlace(Place place, Name name, String vm, Nonce nonce) throws HandOverRefused {
        require("ticket", assignment.ticket(), place.ticket());
        require("slot", assignment.slot(), place.slot());
        require("vm", vm, place.vm());
        if (!place.nonce().equals(nonce)) {
            throw new HandOverRefused("nonce", "nonce: want that of the question, have another's");
        }
        require("name", assignment.name(), name);
    }

    private static void require(String what, Object want, Object have) throws HandOverRefused {
        if (!want.equals(have)) {
            throw new HandOverRefused("for-another-" + what, what + ": want " + want + ", have " + have);
        }
    }

    /** By the time that comes with it: this VM's own is its host's. @return when it ends */
    private Instant until(List<ByteString> chain, Instant now) throws HandOverRefused {
        Identity own;
        try {
            own = Chain.parse(der(chain))
                    .verifyUnlisted(Set.of(Role.WORKER), Anchors.none().withProject(assignment.project()), now);
        } catch (IOException e) {
            throw new HandOverRefused("certificate", String.valueOf(e.getMessage()), e);
        }
        if (!own.key().equals(keys.shown().signing())) {
            throw new HandOverRefused(
                    "certificate-key",
                    "certificate: want one for " + keys.shown().signing() + ", have one for " + own.key());
        }
        return own.until();
    }
}
