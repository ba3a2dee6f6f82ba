package org.cloister.vm.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.PinnedPeer;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverFixture;
import org.cloister.protocol.identity.IkeTrustAnchors;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.worker.storage.StorageMount;
import org.junit.jupiter.api.Test;

/** Tests the plan that follows from a hand-over: of slot 3 in a job of two. */
class NodePlanTest {
    private static final String OWN = "mfrggzdfmztwq2lk-3";
    private static final String OTHER = "mfrggzdfmztwq2lk-2";
    private static final String CONTROLLER = "main";

    private final HandoverFixture fixture = new HandoverFixture();
    private final NodePlan node = new NodePlan(fixture.handOver(), EspMode.KERNEL);

    NodePlanTest() throws IOException, GeneralSecurityException {}

    @Test
    void the_network_lets_in_the_controlling_vm_and_the_jobs_nodes_alone() {
        assertThat(node.networkPlan().own()).isEqualTo(new Ipv4Address("10.64.12.5"));
        assertThat(node.networkPlan().mac()).isEqualTo("52:54:0a:40:0c:05");
        assertThat(node.networkPlan().others())
                .containsExactly(new Ipv4Address("10.64.12.1"), new Ipv4Address("10.64.12.4"));
        assertThat(node.networkPlan().network()).hasToString("10.64.12.0/22");
    }

    @Test
    void tunnels_go_to_the_controlling_vm_at_once_and_to_nodes_when_there_is_something_to_say() throws Exception {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
        try (SecretMemory key = secrets.random(185)) {
            TunnelPlan plan = node.tunnelPlan(
                    given(key),
                    key,
                    IkeTrustAnchors.create(fixture.handOver().name().project(), BootFixture.NOW, new SecureRandom()));
            assertThat(plan.peers()).extracting(PinnedPeer::name).containsExactly(CONTROLLER, OTHER);
            assertThat(plan.peers())
                    .extracting(PinnedPeer::start)
                    .containsExactly(PinnedPeer.Start.INITIATE, PinnedPeer.Start.ON_DEMAND);
            assertThat(plan.self()).hasToString(fixture.handOver().name().toString());
            assertThat(plan.authorities())
                    .as("what certifies itself, and the controlling VM's key below it")
                    .hasSize(2);
            X509Certificate own = read(plan.authorities().get(0).der());
            own.verify(own.getPublicKey());
            X509Certificate issuer = read(plan.authorities().get(1).der());
            issuer.verify(own.getPublicKey());
            assertThat(issuer.getPublicKey())
                    .isEqualTo(read(fixture.world.workerChain.get(1)).getPublicKey());
            read(fixture.world.workerChain.get(0)).verify(issuer.getPublicKey());
        }
    }

    private AcceptedHandover given(SecretMemory munge) throws IOException, GeneralSecurityException {
        HandoverDocument handOver = fixture.handOver();
        return new AcceptedHandover(
                handOver,
                handOver.certificates(),
                List.of(),
                BootFixture.NOW,
                BootFixture.NOW.plusSeconds(86_400),
                TlsCredential.of(BootFixture.pair(SignatureCurve.P384).getPrivate(), fixture.world.workerChain),
                munge,
                handOver.lease(),
                handOver.policy());
    }

    private static X509Certificate read(byte[] der) throws CertificateException {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    @Test
    void each_node_and_the_controlling_vm_has_its_name() {
        assertThat(node.names().own()).isEqualTo(OWN);
        assertThat(node.names().byName())
                .isEqualTo(Map.of(
                        OWN, new Ipv4Address("10.64.12.5"),
                        OTHER, new Ipv4Address("10.64.12.4"),
                        CONTROLLER, new Ipv4Address("10.64.12.1")));
    }

    @Test
    void mounts_and_members_are_those_of_the_hand_over() {
        assertThat(node.mounts())
                .containsExactly(
                        new StorageMount("/drive/homes", Path.of("/home"), false),
                        new StorageMount("/drive/software", Path.of("/project/software"), true));
        assertThat(node.members().list())
                .containsExactly(new ProjectMember("ann", 1001, 1000), new ProjectMember("ben", 1002, 1000));
        assertThat(node.homes()).isEqualTo(Map.of("ann", Path.of("/home/ann"), "ben", Path.of("/home/ben")));
    }

    @Test
    void slurmd_is_of_its_ticket_and_asks_the_controlling_vm_for_the_rest() {
        assertThat(node.slurmdArguments(OptionalLong.empty()))
                .isEqualTo("-Z --conf-server 10.64.12.1:6817 --conf \"Feature=" + feature() + "\"");
        assertThat(node.slurmdArguments(OptionalLong.of(900)))
                .endsWith("--conf \"Feature=" + feature() + " TmpDisk=900\"");
    }

    private static String feature() {
        return org.cloister.vm.controller.slurm.LocalSlurm.feature("mfrggzdfmztwq2lknnwg23tpob");
    }
}
