package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.ticket.Opening;
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

    /** Of the same place, with what comes beside it. */
    private static HandOver by(HandOver given, List<byte[]> chain, Name controller, Instant time) {
        return new HandOver(
                given.place(),
                chain.stream().map(ByteString::copyFrom).toList(),
                given.mungeKey(),
                time,
                given.station(),
                controller,
                given.job(),
                given.accounts(),
                given.mounts(),
                given.lease(),
                given.policy(),
                given.digest());
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
    void a_hand_over_for_another_ticket_is_refused_though_both_have_the_workers_name() throws Exception {
        String other = World.TICKET.substring(0, 16) + "a".repeat(10);
        assertThat(SlotName.of(other, World.SLOT, world.project.id())).isEqualTo(world.worker);
        change(given ->
                at(given, new Place(other, World.SLOT, World.VM, given.place().nonce())));
        refused("for-another-ticket");
    }

    @Test
    void a_hand_over_for_another_slot_is_refused() throws Exception {
        int other = World.SLOT + 1;
        Name worker = SlotName.of(World.TICKET, other, world.project.id());
        change(given -> world.handOver(
                new Place(World.TICKET, other, World.VM, given.place().nonce()),
                world.chain(world.certify(worker, keys.shown().signing())),
                given.mungeKey().bytes().toByteArray()));
        refused("for-another-slot");
    }

    @Test
    void a_hand_over_of_another_project_is_refused_by_its_name() throws Exception {
        World other = new World(Files.createDirectory(folder.resolve("other")));
        other.mungeKey.close();
        other.newKey.close();
        change(given -> by(
                given,
                other.chain(other.certify(other.worker, keys.shown().signing())),
                other.controller,
                given.time()));
        refused("for-another-name");
    }

    @Test
    void a_hand_over_of_another_controlling_vm_than_the_assignments_is_refused() throws Exception {
        change(given -> by(
                given,
                given.certificates().stream().map(ByteString::toByteArray).toList(),
                Opening.controller("other", world.project.id()),
                given.time()));
        refused("for-another-controller");
    }

    @Test
    void a_certificate_that_is_nobodys_of_the_project_is_refused() throws Exception {
        SigningKey stranger = SigningKey.of(BootWorld.pair(Curve.P384));
        Authority owner = Authority.ofProject(
                world.project.id(),
                SubjectKey.of(stranger.verificationKey()),
                stranger::sign,
                Instant.now(),
                Duration.ofDays(300),
                new SecureRandom());
        World.Opened nobodys = world.openedBy(owner, "mal", Instant.now());
        change(given -> {
            List<byte[]> chain = new ArrayList<>(nobodys.above());
            chain.add(
                    0,
                    nobodys.authority()
                            .issue(
                                    world.worker,
                                    SubjectKey.of(keys.shown().signing()),
                                    Instant.now(),
                                    Duration.ofHours(24)));
            return by(given, chain, given.controller(), given.time());
        });
        refused("certificate");
    }

    @Test
    void a_certificate_that_has_ended_at_the_time_which_comes_with_it_is_refused() throws Exception {
        change(given -> by(
                given,
                given.certificates().stream().map(ByteString::toByteArray).toList(),
                given.controller(),
                given.time().plus(world.life).plusSeconds(60)));
        refused("certificate");
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
