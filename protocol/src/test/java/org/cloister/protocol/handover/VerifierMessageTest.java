package org.cloister.protocol.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.wire.FromVerifier;
import org.cloister.protocol.handover.wire.Mount;
import org.cloister.protocol.handover.wire.Node;
import org.cloister.protocol.handover.wire.User;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ResourceRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerifierMessageTest {
    private final HandoverFixture world = new HandoverFixture();
    private final HandoverDocument handOver = world.handOver();
    private final ProjectUnlock unlock = world.unlock();

    VerifierMessageTest() throws Exception {}

    @Test
    void reads_back_what_it_writes() throws Exception {
        for (VerifierMessage message : new VerifierMessage[] {
            new VerifierMessage.Question(HandoverFixture.NONCE),
            new VerifierMessage.Denied(List.of("image", "host"), "want another image"),
            handOver,
            unlock,
            new VerifierMessage.Release(),
            new VerifierMessage.LeaseRenewal(),
            new VerifierMessage.Acknowledgement(),
            new VerifierMessage.UnknownMessage()
        }) {
            assertThat(VerifierMessage.read(message.wire().toByteArray())).isEqualTo(message);
        }
        assertThat(handOver.name()).isEqualTo(world.world.worker);
        assertThat(handOver.accounts().jobUser().login()).isEqualTo("ben");
    }

    private void refused(Consumer<org.cloister.protocol.handover.wire.HandOver.Builder> change, String why) {
        org.cloister.protocol.handover.wire.HandOver.Builder message = handOver.wire().getHandOver().toBuilder();
        change.accept(message);
        malformed(FromVerifier.newBuilder().setHandOver(message).build(), why);
    }

    private static void malformed(FromVerifier message, String why) {
        assertThatThrownBy(() -> VerifierMessage.read(message.toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void a_hand_over_is_for_one_slot_of_one_ticket() {
        refused(message -> message.setTicket("mfrg"), "ticket");
        refused(
                message -> message.setTicket(BootFixture.OPENING),
                "certificate: want one of the worker tq4bcfcxfokh6sbo-3");
        refused(message -> message.setSlot(2), "certificate: want one of the worker mfrggzdfmztwq2lk-2");
        refused(message -> message.setSlot(1), "nodes: want slot 1 among them");
        refused(message -> message.setSlot(4096), "slot");
        refused(message -> message.setSlot(-1), "slot");
        refused(message -> message.setVm("VM"), "vm");
        refused(message -> message.setNonce(ByteString.copyFrom(new byte[31])), "nonce");
        refused(message -> message.clearCertificates(), "certificates");
        ByteString leaf = handOver.certificates().get(0);
        refused(message -> message.clearCertificates().addCertificates(leaf), "certificates");
        refused(message -> message.addCertificates(leaf), "certificates");
        refused(message -> message.setCertificates(0, ByteString.copyFromUtf8("x")), "certificate");
        refused(message -> message.setController(world.world.opener.toString()), "controller");
        refused(
                message -> message.setController(
                        Opening.controller(BootFixture.DRIVE, "b".repeat(52)).toString()),
                "controller");
        refused(message -> message.setTime(-1), "time");
        refused(message -> message.setTime(253_402_300_800_000L), "time");
        refused(message -> message.setPolicy(ByteString.copyFrom(new byte[32])), "verifier");
    }

    @Test
    void a_key_is_sealed_or_it_is_not_there() {
        refused(message -> message.clearMungeKey(), "sealed munge key");
        refused(message -> message.setMungeKey(ByteString.copyFrom(new byte[128])), "sealed munge key");
        refused(message -> message.setMungeKey(ByteString.copyFrom(new byte[97 + 1025 + 16])), "sealed munge key");
    }

    private void network(String network, String why) {
        org.cloister.protocol.handover.wire.Network changed = handOver.wire().getHandOver().getNetwork().toBuilder()
                .setNetwork(network)
                .build();
        refused(message -> message.setNetwork(changed), why);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.64.12.0", "10.64.12.1", "10.64.15.255", "10.64.16.2", "10.64.12.05", "", "10.64.12.5"})
    void a_node_has_an_address_that_a_worker_may_have_and_nobody_else_has(String address) {
        Node other = Node.newBuilder().setSlot(2).setAddress(address).build();
        refused(
                message -> message.setNodes(0, other),
                address.isEmpty() || address.endsWith(".05") ? "address" : "nodes");
    }

    @Test
    void a_slot_is_there_once() {
        refused(message -> message.addNodes(Node.newBuilder().setSlot(2).setAddress("10.64.12.9")), "slot 2 twice");
        refused(message -> message.clearNodes(), "nodes");
        refused(message -> message.addNodes(Node.newBuilder().setSlot(-1).setAddress("10.64.12.9")), "slot");
    }

    @Test
    void a_station_has_a_network_an_mtu_and_an_address_of_its_own() {
        org.cloister.protocol.handover.wire.Network as =
                handOver.wire().getHandOver().getNetwork();
        network("10.64.16.0/22", "address: want one of a VM in");
        network("10.64.12.4/30", "nodes: want addresses of workers in");
        network("", "network");
        network("10.64.12.1/22", "network");
        refused(message -> message.setNetwork(as.toBuilder().setMtu(575)), "MTU");
        refused(message -> message.setNetwork(as.toBuilder().setMtu(9217)), "MTU");
        for (byte[] mac : new byte[][] {new byte[6], new byte[5], {1, 0, 0, 0, 0, 1}}) {
            refused(message -> message.setNetwork(as.toBuilder().setMac(ByteString.copyFrom(mac))), "MAC");
        }
        refused(message -> message.setCluster("Local"), "cluster");
        refused(message -> message.setCluster(""), "cluster");
        refused(message -> message.setPort(0), "port");
        refused(message -> message.setPort(65536), "port");
        refused(message -> message.setLease(59), "lease");
        refused(message -> message.setLease(604_801), "lease");
        refused(message -> message.setLease(-1), "lease");
    }

    private void user(Consumer<User.Builder> change, String why) {
        User.Builder user = handOver.wire().getHandOver().getUsers(0).toBuilder();
        change.accept(user);
        refused(message -> message.setUsers(0, user), why);
    }

    @Test
    void users_are_nobody_of_the_system_and_nobody_twice() {
        for (String login : new String[] {"", "Ann", "ann ", "0ann", "a".repeat(32), "ann\n"}) {
            user(user -> user.setLogin(login), "login");
        }
        for (String login : new String[] {"root", "munge", "slurm", "systemd-network", "cloister-vm"}) {
            user(user -> user.setLogin(login), "none of the system's");
        }
        for (int id : new int[] {0, 999, 60_001, -1}) {
            user(user -> user.setUid(id), "uid");
            user(user -> user.setGid(id), "gid");
            refused(message -> message.setProjectGid(id), "gid of the project");
        }
        user(user -> user.setLogin("ben"), "each login");
        user(user -> user.setUid(1002), "each login");
        user(user -> user.setHome("/home/ben"), "each login");
        user(user -> user.setHome("/root"), "home");
        refused(message -> message.setJobUid(1003), "uid of the job");
        refused(message -> message.setJobUid(0), "uid of the job");
        refused(message -> message.clearUsers(), "users");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "home",
                "/home/",
                "/home//a",
                "/home/../etc",
                "/home/.",
                "/home/.ssh",
                "/home/a b",
                "/home/a\n",
                "/etc",
                "/etc/slurm",
                "/usr",
                "/run",
                "/proc",
                "/homes",
                "/opt",
                "/var/lib"
            })
    void a_mount_is_at_a_place_that_is_the_projects(String point) {
        Mount mount = Mount.newBuilder().setExport("/drive/x").setPoint(point).build();
        refused(message -> message.addMounts(mount), point.matches("(/[a-z]+)+") ? "mount point" : "path");
    }

    @Test
    void a_mount_hides_no_other() {
        for (String point : new String[] {"/home", "/home/ann", "/project", "/project/software/more"}) {
            refused(
                    message -> message.addMounts(
                            Mount.newBuilder().setExport("/drive/x").setPoint(point)),
                    "mounts: want none at or in another");
        }
        refused(
                message -> message.clearMounts()
                        .addAllMounts(IntStream.range(0, 17)
                                .mapToObj(i -> Mount.newBuilder()
                                        .setExport("/drive/x")
                                        .setPoint("/mnt/m" + i)
                                        .build())
                                .toList()),
                "mounts");
        refused(
                message ->
                        message.addMounts(Mount.newBuilder().setExport("drive").setPoint("/mnt/a")),
                "path");
    }

    private void locked(Consumer<org.cloister.protocol.handover.wire.Unlock.Builder> change, String why) {
        org.cloister.protocol.handover.wire.Unlock.Builder message = unlock.wire().getUnlock().toBuilder();
        change.accept(message);
        malformed(FromVerifier.newBuilder().setUnlock(message).build(), why);
    }

    @Test
    void an_unlocking_has_all_that_a_controlling_vm_begins_with() {
        locked(message -> message.setOpening(""), "ticket");
        locked(message -> message.clearAuthorities(), "authorities");
        locked(message -> message.addAuthorities(unlock.authorities().get(0)), "authorities");
        locked(message -> message.setAuthorities(0, ByteString.EMPTY), "authority");
        locked(message -> message.setAuthorities(0, ByteString.copyFrom(new byte[4097])), "authority");
        locked(message -> message.clearDocuments(), "documents");
        locked(message -> message.addDocuments(ByteString.copyFrom(new byte[1 << 20])), "documents");
        locked(message -> message.clearPolicy(), "policy");
        locked(message -> message.setPolicy(unlock.documents().get(0)), "policy");
        locked(message -> message.clearSiteKeys(), "site keys: want 1 to 4, have 0");
        ByteString site = unlock.wire().getUnlock().getSiteKeys(0);
        locked(message -> message.addSiteKeys(site), "site keys: want each once");
        locked(message -> message.addAllSiteKeys(List.of(site, site, site, site)), "site keys: want 1 to 4, have 5");
        locked(message -> message.setSiteKeys(0, site.substring(1)), "key");
        locked(
                message -> message.setSiteKeys(
                        0, ByteString.copyFrom(world.world.boot.getPublic().getEncoded())),
                "site key: want P-256");
        locked(message -> message.setEpoch(0), "epoch");
        locked(message -> message.setEpoch(1L << 53), "epoch");
        locked(message -> message.setEpoch(-1), "epoch");
        locked(message -> message.setDriveKey(ByteString.copyFrom(new byte[64])), "sealed drive key");
        locked(message -> message.setDriveKey(ByteString.copyFrom(new byte[178])), "sealed drive key");
        locked(message -> message.clearNetwork(), "network");
        locked(message -> message.setTime(-1), "time");
        locked(message -> message.setMembers(ByteString.copyFrom(new byte[262_145])), "bytes of the members");
        locked(message -> message.setSettings(ByteString.copyFrom(new byte[65_537])), "bytes of the settings");
    }

    @Test
    void members_that_are_nobody_are_others_than_those_that_the_drive_has() throws Exception {
        org.cloister.protocol.handover.wire.Unlock.Builder message = unlock.wire().getUnlock().toBuilder();
        ProjectUnlock kept = (ProjectUnlock) VerifierMessage.read(FromVerifier.newBuilder()
                .setUnlock(message.clearMembers().clearSettings())
                .build()
                .toByteArray());
        assertThat(kept.members()).isEmpty();
        assertThat(kept.settings()).isEmpty();
        ProjectUnlock nobody = (ProjectUnlock) VerifierMessage.read(FromVerifier.newBuilder()
                .setUnlock(message.setMembers(ByteString.EMPTY))
                .build()
                .toByteArray());
        assertThat(nobody.members()).contains(ByteString.EMPTY);
    }

    @Test
    void a_denial_has_its_clauses() {
        for (List<String> clauses : List.of(
                List.<String>of(),
                List.of(""),
                List.of("Image"),
                List.of("image", "image"),
                Collections.nCopies(33, "a"))) {
            malformed(
                    FromVerifier.newBuilder()
                            .setDenied(org.cloister.protocol.handover.wire.Denied.newBuilder()
                                    .addAllClauses(clauses))
                            .build(),
                    "clause");
        }
        malformed(
                FromVerifier.newBuilder()
                        .setDenied(org.cloister.protocol.handover.wire.Denied.newBuilder()
                                .addClauses("image")
                                .setText("x\n"))
                        .build(),
                "text");
    }

    @Test
    void what_is_critical_is_known() {
        malformed(
                new VerifierMessage.LeaseRenewal()
                        .wire().toBuilder().addCritical(10).build(),
                "field 10 is critical");
        assertThatThrownBy(() -> VerifierMessage.read(new byte[] {10, 9})).isInstanceOf(MalformedException.class);
    }

    @Test
    void the_longest_hand_over_fits() {
        org.cloister.protocol.handover.wire.HandOver.Builder message =
                handOver.wire().getHandOver().toBuilder().clearNodes().clearUsers();
        for (int slot = 0; slot < ResourceRequest.MAX_NODES; slot++) {
            message.addNodes(Node.newBuilder().setSlot(slot).setAddress("255.255.255.255"));
        }
        for (int user = 0; user < WorkerAccounts.MAX_USERS; user++) {
            message.addUsers(User.newBuilder()
                    .setLogin("a".repeat(31))
                    .setUid(60_000)
                    .setGid(60_000)
                    .setHome("a".repeat(255)));
        }
        message.setMungeKey(ByteString.copyFrom(new byte[97 + 1024 + 16]));
        for (int i = 0; i < 14; i++) {
            message.addMounts(Mount.newBuilder().setExport("a".repeat(255)).setPoint("a".repeat(255)));
        }
        for (int i = 0; i < 3; i++) {
            message.setCertificates(i, ByteString.copyFrom(new byte[4096]));
        }
        assertThat(FromVerifier.newBuilder().setHandOver(message).build().getSerializedSize())
                .isLessThanOrEqualTo(ProtocolLimits.HAND_OVER_BYTES);
        assertThat(1 << 20)
                .isLessThan(ProtocolLimits.UNLOCK_BYTES
                        - ProjectUnlock.MAX_POLICY
                        - ProjectUnlock.MAX_MEMBERS
                        - ProjectUnlock.MAX_SETTINGS
                        - 4 * 1001
                        - 2 * 4096
                        - 4096);
    }
}
