package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.channel.PtyPort;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.channel.VmPort;
import org.cloister.transport.channel.VmPortListener;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Circuits to and from two VMs, through their ports, their host and the relay: the ends run the code of everybody else. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class VmForwardingTest {
    private static final VmPortListener SILENT = new VmPortListener() {};

    @TempDir
    private Path folder;

    private RelayFixture fixture;
    /** What of the host's is not for VMs. */
    private TestAgent own;

    private VmForwarder forwarding;
    private AgentLink host;
    private PtyPort controllersPipe;
    private PtyPort workersPipe;
    private VmPort controllersPort;
    private VmPort workersPort;
    private TestAgent controller;
    private TestAgent worker;
    private AgentAttachStream attachment;
    private final CircuitRecorder atTarget = CircuitRecorder.keeping();
    private final CircuitRecorder atOpener = CircuitRecorder.keeping();

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(Files.createDirectory(folder.resolve("state")));
        startHost();
        controllersPipe = PtyPort.open(Files.createDirectory(folder.resolve("c")));
        workersPipe = PtyPort.open(Files.createDirectory(folder.resolve("w")));
        startPorts();
        controller = TestAgent.inVm(fixture, controllersPipe.device());
        worker = TestAgent.inVm(fixture, workersPipe.device());
        attachment = controller.attachment();
        assertThat(serve(atTarget)).isEmpty();
    }

    private void startHost() throws Exception {
        own = TestAgent.silent(fixture);
        forwarding = new VmForwarder(RelayFixture.HOST, own);
        TlsCredential credential = fixture.credential(RelayFixture.HOST);
        host = TestAgent.dialling(fixture, () -> credential, fixture.relay.address(), own.trustStore, forwarding);
        own.attachment();
    }

    private void startPorts() {
        controllersPort =
                forwarding.open(fixture.loops.next(), controllersPipe.socket(), Set.of(fixture.controller), SILENT);
        workersPort = forwarding.open(fixture.loops.next(), workersPipe.socket(), Set.of(fixture.worker), SILENT);
    }

    @AfterEach
    void stop() {
        controller.close();
        worker.close();
        stopHost();
        controllersPipe.close();
        workersPipe.close();
        fixture.close();
    }

    private void stopHost() {
        controllersPort.close();
        workersPort.close();
        host.close();
    }

    private Optional<CloseReason> serve(CircuitRecorder tap) throws Exception {
        return controller.serve(
                attachment, fixture.controller, fixture.credential(fixture.controller), tap.application());
    }

    private Circuit open(ClientLink link, CertificateName from, CircuitRecorder tap) throws Exception {
        return RelayFixture.get(Circuit.open(
                link,
                RelayFixture.terms(from, fixture.controller),
                fixture.credential(from),
                fixture.trust,
                tap.application()));
    }

    private void bothWays(CircuitRecorder opener, CircuitRecorder target) throws Exception {
        byte[] up = new byte[1_500_000];
        new Random(1).nextBytes(up);
        byte[] down = new byte[700_000];
        new Random(2).nextBytes(down);
        opener.send(up);
        target.send(down);
        assertThat(target.await(up.length)).hasSize(up.length).satisfies(got -> same(got, up));
        assertThat(opener.await(down.length)).hasSize(down.length).satisfies(got -> same(got, down));
    }

    private static void same(byte[] got, byte[] sent) {
        assertThat(Arrays.equals(got, sent)).isTrue();
    }

    @Test
    void what_becomes_of_the_hosts_own_certificate_is_for_the_host_to_hear() throws Exception {
        Instant until = Instant.now().plusSeconds(3600);
        forwarding.onRenewed(until);
        forwarding.onRenewalFailed("no desk");
        assertThat(own.renewals.poll(0, TimeUnit.SECONDS)).isEqualTo(until);
        assertThat(own.refusals.poll(0, TimeUnit.SECONDS)).isEqualTo("no desk");
    }

    @Test
    void a_device_reaches_a_vm_and_each_end_ends_its_half() throws Exception {
        Circuit circuit = open(fixture.link(fixture.device), fixture.member, atOpener);
        bothWays(atOpener, atTarget);
        circuit.shutdownOutput();
        assertThat(atTarget.awaitEnd()).isTrue();
        atTarget.send(new byte[200_000]);
        assertThat(atOpener.await(900_000)).hasSize(900_000);
        atTarget.circuit().shutdownOutput();
        assertThat(atOpener.awaitEnd()).isTrue();
        assertThat(atOpener.awaitFailure()).isNull();
        assertThat(atTarget.awaitFailure()).isNull();
    }

    @Test
    void one_vm_reaches_another_through_both_ports() throws Exception {
        AgentAttachStream workers = worker.attachment();
        workers.serve(fixture.worker);
        assertThat(worker.served.poll(20, TimeUnit.SECONDS)).isEmpty();
        open(workers.link(), fixture.worker, atOpener);
        bothWays(atOpener, atTarget);
    }

    @Test
    void a_vm_speaks_for_no_name_but_its_own() throws Exception {
        AgentAttachStream workers = worker.attachment();
        workers.serve(fixture.worker);
        assertThat(worker.served.poll(20, TimeUnit.SECONDS)).isEmpty();
        // The other's name is served on the same link, so the relay alone would take it.
        assertThatThrownBy(() -> open(workers.link(), fixture.controller, atOpener))
                .hasMessageContaining("relay not-allowed");
        assertThatThrownBy(() -> open(workers.link(), fixture.member, atOpener))
                .hasMessageContaining("relay not-allowed");
        workers.serve(fixture.controller);
        assertThat(worker.served.poll(20, TimeUnit.SECONDS)).isEqualTo(Optional.of(CloseReason.NOT_ALLOWED));
        assertThat(open(fixture.link(fixture.device), fixture.member, atOpener).version())
                .isEqualTo(1);
    }

    @Test
    void a_relay_has_no_evidence_and_no_assignment_for_anybody() throws Exception {
        ClientLink link = fixture.link(fixture.device);
        for (StreamRequest request : new StreamRequest[] {
            new StreamRequest.Evidence(ProtocolVersions.OURS), new StreamRequest.Assignment(ProtocolVersions.OURS)
        }) {
            assertThatThrownBy(() -> RelayFixture.get(link.open(request, stream -> {})))
                    .hasMessageContaining("relay not-allowed");
        }
    }

    @Test
    void a_vms_reason_reaches_the_opener_and_what_no_target_may_say_becomes_a_refusal() throws Exception {
        controller.answer(fixture.controller, null, null);
        ClientLink link = fixture.link(fixture.device);
        for (CloseReason reason : List.of(CloseReason.LOCKED, CloseReason.STARTING, CloseReason.REVOKED)) {
            var opening = Circuit.open(
                    link,
                    RelayFixture.terms(fixture.member, fixture.controller),
                    fixture.credential(fixture.member),
                    fixture.trust,
                    atOpener.application());
            attachment.refuse(controller.dials.poll(20, TimeUnit.SECONDS), reason);
            String passed = reason == CloseReason.REVOKED ? "refused" : reason.toString();
            assertThatThrownBy(() -> RelayFixture.get(opening)).hasMessageContaining("target " + passed);
        }
    }

    @Test
    void another_vms_token_is_good_for_nothing() throws Exception {
        AgentAttachStream workers = worker.attachment();
        controller.answer(fixture.controller, null, null);
        var opening = Circuit.open(
                fixture.link(fixture.device),
                RelayFixture.terms(fixture.member, fixture.controller),
                fixture.credential(fixture.member),
                fixture.trust,
                atOpener.application());
        var dial = controller.dials.poll(20, TimeUnit.SECONDS);
        assertThatThrownBy(() -> RelayFixture.get(Circuit.dialBack(
                        workers.link(),
                        dial,
                        fixture.credential(fixture.controller),
                        fixture.trust,
                        atTarget.application())))
                .hasMessageContaining("relay unknown");
        attachment.refuse(dial, CloseReason.REFUSED);
        assertThatThrownBy(() -> RelayFixture.get(opening)).hasMessageContaining("target refused");
    }

    @Test
    void a_circuit_that_stalls_in_the_vm_stops_its_sender_and_no_other_circuit() throws Exception {
        ClientLink device = fixture.link(fixture.device);
        Circuit first = open(device, fixture.member, CircuitRecorder.keeping());
        Circuit there = (Circuit) controller.circuits.poll(20, TimeUnit.SECONDS);
        read(there, false);
        byte[] piece = new byte[64 * 1024];
        int written = 0;
        while (first.channel().isWritable() && written < 64 << 20) {
            first.channel()
                    .writeAndFlush(io.netty.buffer.Unpooled.wrappedBuffer(piece))
                    .await(200);
            written += piece.length;
        }
        assertThat(written).as("what windows and buffers hold").isLessThan(8 << 20);
        CircuitRecorder moving = CircuitRecorder.keeping();
        assertThat(serve(moving)).isEmpty();
        CircuitRecorder sender = CircuitRecorder.keeping();
        open(device, fixture.member, sender);
        bothWays(sender, moving);
        read(there, true);
        assertThat(atTarget.await(written)).hasSize(written);
    }

    private static void read(Circuit circuit, boolean on) throws Exception {
        circuit.channel()
                .eventLoop()
                .submit(() -> circuit.channel().config().setAutoRead(on))
                .get();
    }

    @Test
    void a_killed_host_takes_its_circuits_along_and_the_vm_comes_back_through_the_next() throws Exception {
        open(fixture.link(fixture.device), fixture.member, atOpener);
        stopHost();
        assertThat(atOpener.awaitFailure()).hasMessageContaining("lost");
        assertThat(atTarget.awaitFailure()).isNotNull();
        startHost();
        startPorts();
        attachment = controller.attachment();
        CircuitRecorder again = CircuitRecorder.keeping();
        assertThat(serve(again)).isEmpty();
        CircuitRecorder opener = CircuitRecorder.keeping();
        open(fixture.link(fixture.device), fixture.member, opener);
        bothWays(opener, again);
    }

    @Test
    void a_vm_that_goes_is_served_no_more_and_others_stay() throws Exception {
        open(fixture.link(fixture.device), fixture.member, atOpener);
        controller.close();
        assertThat(atOpener.awaitFailure()).hasMessageContaining("lost");
        AgentAttachStream workers = worker.attachment();
        workers.serve(fixture.worker);
        assertThat(worker.served.poll(20, TimeUnit.SECONDS)).isEmpty();
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        String why = "";
        while (!why.contains("relay unknown") && System.nanoTime() - endNs < 0) {
            try {
                open(workers.link(), fixture.worker, CircuitRecorder.keeping());
            } catch (java.util.concurrent.ExecutionException e) {
                why = e.getMessage();
            }
        }
        assertThat(why).contains("relay unknown");
    }

    @Test
    void circuits_that_the_relay_refuses_one_vm_end_nobodys_link() throws Exception {
        AgentAttachStream workers = worker.attachment();
        workers.serve(fixture.worker);
        assertThat(worker.served.poll(20, TimeUnit.SECONDS)).isEmpty();
        // Each refusal of the relay resets a stream on the host's link, and more of them than a link lets pass.
        for (int i = 0; i < 2 * ProtocolLimits.RESETS; i++) {
            assertThatThrownBy(() -> RelayFixture.get(Circuit.open(
                            workers.link(),
                            RelayFixture.terms(fixture.worker, fixture.site.a.name("nobody", CertificateRole.WORKER)),
                            fixture.credential(fixture.worker),
                            fixture.trust,
                            CircuitRecorder.keeping().application())))
                    .hasMessageContaining("relay unknown");
        }
        assertThat(own.losses).isEmpty();
        bothWaysAnew();
    }

    private void bothWaysAnew() throws Exception {
        CircuitRecorder target = CircuitRecorder.keeping();
        assertThat(serve(target)).isEmpty();
        CircuitRecorder opener = CircuitRecorder.keeping();
        open(fixture.link(fixture.device), fixture.member, opener);
        bothWays(opener, target);
    }

    @Test
    void a_list_of_the_revoked_goes_down_to_every_vm() throws Exception {
        worker.attachment();
        byte[] list = TestSite.list(fixture.site.authority, 2);
        fixture.deliver(list);
        for (TestAgent each : List.of(controller, worker, own)) {
            ByteString received = null;
            while (!ByteString.copyFrom(list).equals(received)) {
                received = TestAgent.require(each.revocations.poll(20, TimeUnit.SECONDS), "the list did not come");
            }
        }
    }
}
