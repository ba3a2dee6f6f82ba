package org.cloister.vm.joining;

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
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Peer;
import org.cloister.ipsec.Plan;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.HandOverWorld;
import org.cloister.protocol.identity.IkeAnchors;
import org.cloister.protocol.link.Credential;
import org.cloister.vm.storage.StorageMount;
import org.cloister.vm.users.Member;
import org.junit.jupiter.api.Test;

/** What becomes of a hand-over: of slot 3 in a job of two. */
class NodeTest {
    private static final String OWN = "mfrggzdfmztwq2lk-3";
    private static final String OTHER = "mfrggzdfmztwq2lk-2";
    private static final String CONTROLLER = "main";

    private final HandOverWorld world = new HandOverWorld();
    private final Node node = new Node(world.handOver(), Esp.KERNEL);

    NodeTest() throws IOException, GeneralSecurityException {}

    @Test
    void the_network_lets_in_the_controlling_vm_and_the_jobs_nodes_alone() {
        assertThat(node.network().own()).isEqualTo(new Address("10.64.12.5"));
        assertThat(node.network().mac()).isEqualTo("52:54:0a:40:0c:05");
        assertThat(node.network().others()).containsExactly(new Address("10.64.12.1"), new Address("10.64.12.4"));
        assertThat(node.network().network()).hasToString("10.64.12.0/22");
    }

    @Test
    void tunnels_go_to_the_controlling_vm_at_once_and_to_nodes_when_there_is_something_to_say() throws Exception {
        Secrets secrets = Secrets.open(Secrets.Locking.RUN_WITHOUT_LOCKED_MEMORY);
        try (SecretMemory key = secrets.random(185)) {
            Plan plan = node.tunnels(
                    given(key),
                    key,
                    IkeAnchors.begin(world.handOver().name().project(), BootWorld.NOW, new SecureRandom()));
            assertThat(plan.peers()).extracting(Peer::name).containsExactly(CONTROLLER, OTHER);
            assertThat(plan.peers()).extracting(Peer::start).containsExactly(Peer.Start.INITIATE, Peer.Start.ON_DEMAND);
            assertThat(plan.self()).hasToString(world.handOver().name().toString());
            assertThat(plan.authorities())
                    .as("what certifies itself, and the controlling VM's key below it")
                    .hasSize(2);
            X509Certificate own = read(plan.authorities().get(0).der());
            own.verify(own.getPublicKey());
            X509Certificate issuer = read(plan.authorities().get(1).der());
            issuer.verify(own.getPublicKey());
            assertThat(issuer.getPublicKey())
                    .isEqualTo(read(world.world.workerChain.get(1)).getPublicKey());
            read(world.world.workerChain.get(0)).verify(issuer.getPublicKey());
        }
    }

    private HandedOver given(SecretMemory munge) throws IOException, GeneralSecurityException {
        HandOver handOver = world.handOver();
        return new HandedOver(
                handOver,
                handOver.certificates(),
                List.of(),
                BootWorld.NOW,
                BootWorld.NOW.plusSeconds(86_400),
                Credential.of(BootWorld.pair(Curve.P384).getPrivate(), world.world.workerChain),
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
                        OWN, new Address("10.64.12.5"),
                        OTHER, new Address("10.64.12.4"),
                        CONTROLLER, new Address("10.64.12.1")));
    }

    @Test
    void mounts_and_members_are_those_of_the_hand_over() {
        assertThat(node.mounts())
                .containsExactly(
                        new StorageMount("/drive/homes", Path.of("/home"), false),
                        new StorageMount("/drive/software", Path.of("/project/software"), true));
        assertThat(node.members().list()).containsExactly(new Member("ann", 1001, 1000), new Member("ben", 1002, 1000));
        assertThat(node.homes()).isEqualTo(Map.of("ann", Path.of("/home/ann"), "ben", Path.of("/home/ben")));
    }

    @Test
    void slurmd_is_of_its_ticket_and_asks_the_controlling_vm_for_the_rest() {
        assertThat(node.slurmd(OptionalLong.empty()))
                .isEqualTo("-Z --conf-server 10.64.12.1:6817 --conf \"Feature=" + feature() + "\"");
        assertThat(node.slurmd(OptionalLong.of(900))).endsWith("--conf \"Feature=" + feature() + " TmpDisk=900\"");
    }

    private static String feature() {
        return org.cloister.vm.slurm.LocalSlurm.feature("mfrggzdfmztwq2lknnwg23tpob");
    }
}
