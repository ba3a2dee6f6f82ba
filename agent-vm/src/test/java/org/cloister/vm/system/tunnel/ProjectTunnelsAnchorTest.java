package org.cloister.vm.system.tunnel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.CharonHost;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelCredential;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.ipsec.vici.PrivateKeySource;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.IkeTrustAnchors;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A controlling VM and a worker with the certificates that they have, at two real charons, each with anchors of its own. */
class ProjectTunnelsAnchorTest {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Duration DAY = Duration.ofHours(12);
    private static final Ipv4Address FIRST = new Ipv4Address("10.70.0.1");
    private static final Ipv4Address SECOND = new Ipv4Address("10.70.0.2");
    private static final Duration SOON = Duration.ofSeconds(20);

    private final SigningKey ann = key();
    private final SigningKey ben = key();
    private final ProjectHistory project = project(ann, ben);
    private final CharonHost controller = CharonHost.make();
    private final CharonHost worker = CharonHost.make();

    ProjectTunnelsAnchorTest() throws Exception {}

    @BeforeEach
    void connect() throws IOException {
        controller.connect(worker);
        controller.address(FIRST.text());
        worker.address(SECOND.text());
        controller.startCharon();
        worker.startCharon();
    }

    @AfterEach
    void end() throws IOException {
        controller.close();
        worker.close();
    }

    private static SigningKey key() throws Exception {
        return SigningKey.of(BootFixture.pair(SignatureCurve.P384));
    }

    private static ProjectHistory project(SigningKey first, SigningKey second) throws Exception {
        ProjectOwners owners = new ProjectOwners(
                1,
                List.of(
                        new ProjectOwners.Owner("ann", first.verificationKey()),
                        new ProjectOwners.Owner("ben", second.verificationKey())));
        byte[] genesis = ProjectDocument.genesis(owners, Instant.now(), RANDOM);
        return ProjectHistory.fromGenesis(DsseEnvelope.sign(ProjectDocument.GENESIS, genesis, first)
                .countersign(second)
                .bytes());
    }

    /** A controlling VM's boot, and who certified it. */
    private final class Boot {
        final KeyPair own = BootFixture.pair(SignatureCurve.P384);
        final List<byte[]> above = new ArrayList<>();

        Boot(SigningKey owner, boolean byOpener) throws Exception {
            Instant now = Instant.now();
            CertificateAuthority authority = CertificateAuthority.ofProject(
                    project.id(),
                    SubjectPublicKey.of(owner.verificationKey()),
                    owner::sign,
                    now,
                    Duration.ofDays(300),
                    RANDOM);
            if (byOpener) {
                SigningKey cat = key();
                byte[] cats = authority.certifyPerson(
                        "cat",
                        Set.of(CertificateRole.OPENER),
                        SubjectPublicKey.of(cat.verificationKey()),
                        now,
                        Duration.ofDays(31));
                above.add(cats);
                authority = CertificateAuthority.load(cats, cat::sign, RANDOM);
            }
            above.add(0, authority.certifyController("main", subject(own), now, Duration.ofDays(7)));
        }

        TunnelCredential credential(TunnelIdentity who, KeyPair key) throws IOException {
            byte[] leaf = CertificateAuthority.load(above.get(0), CertificateSigner.of(own.getPrivate()), RANDOM)
                    .issue(new CertificateName(who.id(), who.role(), who.project()), subject(key), Instant.now(), DAY);
            return new TunnelCredential(
                    DerCertificate.parse(leaf), secret(key.getPrivate().getEncoded()));
        }

        TunnelPlan plan(TunnelIdentity who, Ipv4Address at, KeyPair key) throws IOException {
            return plan(who, at, key, IkeTrustAnchors.create(project.id(), Instant.now(), RANDOM));
        }

        TunnelPlan plan(TunnelIdentity who, Ipv4Address at, KeyPair key, IkeTrustAnchors anchors) throws IOException {
            return TunnelPlan.of(who, at, credential(who, key), believing(anchors, this), EspMode.USERSPACE);
        }
    }

    private static List<DerCertificate> believing(IkeTrustAnchors anchors, Boot... boots) throws IOException {
        List<byte[]> verified = new ArrayList<>();
        for (Boot each : boots) {
            verified.add(each.above.get(0));
        }
        List<DerCertificate> authorities = new ArrayList<>();
        for (byte[] each : anchors.certificatesFor(verified)) {
            authorities.add(DerCertificate.parse(each));
        }
        return authorities;
    }

    private static SubjectPublicKey subject(KeyPair pair) throws IOException {
        return SubjectPublicKey.of(SigningKey.of(pair).verificationKey());
    }

    private static PrivateKeySource secret(byte[] pkcs8) {
        return new PrivateKeySource() {
            @Override
            public int length() {
                return pkcs8.length;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                target.put(pkcs8);
            }
        };
    }

    private TunnelPeer controllers() {
        return new TunnelPeer("main", TunnelIdentity.controller("main", project.id()), FIRST);
    }

    private TunnelPeer workers() {
        return new TunnelPeer("w1", TunnelIdentity.worker("w1", project.id()), SECOND);
    }

    private ProjectTunnels controlling(Boot boot) throws IOException {
        return ProjectTunnels.open(
                controller.socket(),
                boot.plan(controllers().identity(), FIRST, boot.own)
                        .with(TunnelPeer.peersOfController(List.of(workers()))),
                event -> {});
    }

    private ProjectTunnels working(Boot boot) throws IOException {
        return ProjectTunnels.open(
                worker.socket(),
                boot.plan(workers().identity(), SECOND, BootFixture.pair(SignatureCurve.P384))
                        .with(TunnelPeer.peersOfWorker(controllers(), List.of())),
                event -> {});
    }

    private void comesUp(ProjectTunnels at) throws IOException {
        try {
            at.awaitUp("main", SOON);
        } catch (IOException e) {
            throw new AssertionError(worker.log() + "\n--- controlling VM\n" + controller.log(), e);
        }
        reaches();
    }

    /** A packet or two may meet a tunnel that moves, and are lost: strongswan-conf's README. */
    private void reaches() throws IOException {
        worker.run("ping", "-c5", "-i0.2", "-W2", FIRST.text());
    }

    @Test
    @SuppressWarnings("try") // the one end is only there to be called
    void a_worker_reaches_the_controlling_vm_that_an_opener_opened() throws Exception {
        Boot boot = new Boot(ann, true);
        try (ProjectTunnels there = controlling(boot);
                ProjectTunnels tunnels = working(boot)) {
            comesUp(tunnels);
        }
    }

    @Test
    @SuppressWarnings("try") // the one end is only there to be called
    void a_worker_reaches_the_controlling_vm_that_an_owner_opened() throws Exception {
        Boot boot = new Boot(ben, false);
        try (ProjectTunnels there = controlling(boot);
                ProjectTunnels tunnels = working(boot)) {
            comesUp(tunnels);
        }
    }

    /** A node of the job, with the key of its boot, as it was handed over to and is readmitted. */
    private final class Worker {
        final KeyPair key = BootFixture.pair(SignatureCurve.P384);
        final IkeTrustAnchors anchors = IkeTrustAnchors.create(project.id(), Instant.now(), RANDOM);
        final TunnelPeer self;
        final ProjectTunnels tunnels;

        Worker(Boot boot, CharonHost host, TunnelPeer self, TunnelPeer controller, List<TunnelPeer> others)
                throws IOException {
            this.self = self;
            this.tunnels = ProjectTunnels.open(
                    host.socket(),
                    boot.plan(self.identity(), self.address(), key, anchors)
                            .with(TunnelPeer.peersOfWorker(controller, others)),
                    event -> {});
        }

        void readmitted(Boot by, Boot before, Optional<String> anew) throws IOException {
            tunnels.migrate(by.credential(self.identity(), key), believing(anchors, by, before), anew);
        }
    }

    @Test
    void a_worker_moves_to_the_controlling_vm_that_was_opened_anew() throws Exception {
        Boot first = new Boot(ann, true);
        Boot second = new Boot(ben, true);
        ProjectTunnels there = controlling(first);
        Worker moving = new Worker(first, worker, workers(), controllers(), List.of());
        try {
            comesUp(moving.tunnels);
            there.close();
            controller.killCharon();
            controller.startCharon();
            there = controlling(second);
            assertThatThrownBy(() -> worker.run("ping", "-c1", "-W2", FIRST.text()))
                    .as("the tunnel that the worker still has leads nowhere")
                    .isInstanceOf(IOException.class);
            moving.readmitted(second, first, Optional.of("main"));
            comesUp(moving.tunnels);
        } finally {
            moving.tunnels.close();
            there.close();
        }
    }

    /** The two charons are two nodes here; a controlling VM is not there. */
    @Test
    void two_nodes_keep_their_tunnel_while_one_has_a_certificate_of_the_later_authority_and_one_of_the_earlier()
            throws Exception {
        Boot first = new Boot(ann, true);
        Boot second = new Boot(ben, true);
        TunnelPeer gone =
                new TunnelPeer("main", TunnelIdentity.controller("main", project.id()), new Ipv4Address("10.70.0.9"));
        TunnelPeer one = new TunnelPeer("w1", TunnelIdentity.worker("w1", project.id()), FIRST);
        TunnelPeer two = new TunnelPeer("w2", TunnelIdentity.worker("w2", project.id()), SECOND);
        Worker left = new Worker(first, controller, one, gone, List.of(two));
        Worker right = new Worker(first, worker, two, gone, List.of(one));
        try {
            left.tunnels.awaitUp("w2", SOON);
            right.tunnels.awaitUp("w1", SOON);
            reaches();
            left.readmitted(second, first, Optional.empty());
            for (int i = 0; i < 5; i++) {
                reaches();
                TimeUnit.MILLISECONDS.sleep(500);
            }
            right.readmitted(second, first, Optional.empty());
            for (int i = 0; i < 5; i++) {
                reaches();
                TimeUnit.MILLISECONDS.sleep(500);
            }
            assertThat(left.tunnels.isUp("w2")).isTrue();
            assertThat(right.tunnels.isUp("w1")).isTrue();
        } finally {
            left.tunnels.close();
            right.tunnels.close();
        }
    }

    @Test
    @SuppressWarnings("try") // the one end is only there to be called
    void nobody_comes_in_whom_this_controlling_vm_did_not_certify() throws Exception {
        try (ProjectTunnels there = controlling(new Boot(ann, true));
                ProjectTunnels tunnels = working(new Boot(ann, true))) {
            assertThatThrownBy(() -> tunnels.awaitUp("main", Duration.ofSeconds(5)))
                    .isInstanceOf(IOException.class);
            assertThat(controller.log()).contains("w1.worker." + project.id());
        }
    }
}
