package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.SecureRandom;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.worker.WorkerEvent;
import org.junit.jupiter.api.Test;

/** Hand-overs that a controlling VM makes and its worker does not take. */
class HandOverRefusedTest extends Conversation {
    private void refused(String code) throws Exception {
        boot();
        assertThat(next(WorkerEvent.NodeGone.class).trouble().code()).isEqualTo(code);
        awaitLog("off");
        assertThat(machine.given).isEmpty();
    }

    private HandOver at(HandOver given, Place place) throws IOException {
        return world.handOver(
                place,
                given.certificates().stream().map(ByteString::toByteArray).toList(),
                given.mungeKey().bytes().toByteArray());
    }

    private interface Change {
        HandOver of(HandOver given) throws IOException;
    }

    private void change(Change change) {
        world.way = given -> {
            try {
                return change.of(given);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        };
    }

    @Test
    void a_hand_over_for_another_vm_is_refused() throws Exception {
        change(given -> at(
                given,
                new Place(
                        World.TICKET, World.SLOT, "a".repeat(26), given.place().nonce())));
        refused("for-another-vm");
    }

    @Test
    void a_hand_over_of_another_conversation_is_refused() throws Exception {
        change(given -> at(given, new Place(World.TICKET, World.SLOT, World.VM, Nonce.random(new SecureRandom()))));
        refused("nonce");
    }

    @Test
    void a_certificate_for_another_key_is_refused() throws Exception {
        try (BootKeyPairs other = BootKeyPairs.make(world.secrets, new SecureRandom())) {
            change(given -> world.handOver(
                    given.place(),
                    world.chain(world.certify(world.worker, other.shown().signing())),
                    given.mungeKey().bytes().toByteArray()));
            refused("certificate-key");
        }
    }

    @Test
    void a_key_that_was_sealed_for_something_else_is_refused() throws Exception {
        change(given -> world.handOver(
                given.place(),
                given.certificates().stream().map(ByteString::toByteArray).toList(),
                world.sealed(
                        new Place(
                                World.TICKET,
                                World.SLOT + 1,
                                World.VM,
                                given.place().nonce()),
                        keys.shown().sealing())));
        refused("munge-key");
    }

    @Test
    void a_key_that_was_sealed_to_another_vm_is_refused() throws Exception {
        try (BootKeyPairs other = BootKeyPairs.make(world.secrets, new SecureRandom())) {
            change(given -> world.handOver(
                    given.place(),
                    given.certificates().stream().map(ByteString::toByteArray).toList(),
                    world.sealed(given.place(), other.shown().sealing())));
            refused("munge-key");
        }
    }
}
