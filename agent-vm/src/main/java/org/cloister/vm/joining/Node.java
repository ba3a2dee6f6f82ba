package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Certificate;
import org.cloister.ipsec.Credential;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Plan;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.handover.Station;
import org.cloister.protocol.identity.IkeAnchors;
import org.cloister.vm.names.NodeAddresses;
import org.cloister.vm.network.NetworkPlan;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.storage.StorageMount;
import org.cloister.vm.tunnel.LockedKey;
import org.cloister.vm.tunnel.Machine;
import org.cloister.vm.users.Member;
import org.cloister.vm.users.Members;

/** What a hand-over makes of a worker, in the words of those who do it. */
record Node(HandOver handOver, Esp by) {
    /** Its own name in the Local Slurm. */
    String label() {
        return SlotName.label(handOver.place().ticket(), handOver.place().slot());
    }

    /** The controlling VM, as tunnels and files call it. */
    String controller() {
        return handOver.controller().id();
    }

    Address ownAddress() {
        return address(handOver.station().address());
    }

    Address controllerAddress() {
        return address(handOver.station().network().controller());
    }

    /** Of the others. */
    private List<Machine> others() {
        List<Machine> others = new ArrayList<>();
        for (org.cloister.protocol.handover.Node node : handOver.job().nodes()) {
            if (node.slot() != handOver.place().slot()) {
                String label = SlotName.label(handOver.place().ticket(), node.slot());
                others.add(new Machine(label, Identity.worker(label, project()), address(node.address())));
            }
        }
        return others;
    }

    NetworkPlan network() {
        Station station = handOver.station();
        return new NetworkPlan(
                station.mac().toString(),
                address(station.address()),
                station.network().prefix(),
                station.mtu(),
                controllerAddress(),
                others().stream().map(Machine::address).toList(),
                by);
    }

    /**
     * All of this job's tunnels. Whose certificate issued the worker's own issued those of all its peers, or will: while nodes
     * come back to a controlling VM that was opened anew, some have certificates of the one before.
     *
     * @param given what this node was given last
     * @param key of its certificate, PKCS#8
     * @param anchors of this VM's tunnels
     */
    Plan tunnels(HandedOver given, SecretMemory key, IkeAnchors anchors) throws IOException {
        Machine controller =
                new Machine(controller(), Identity.controller(controller(), project()), controllerAddress());
        return Plan.of(
                        Identity.worker(label(), project()),
                        address(handOver.station().address()),
                        credential(given, key),
                        authorities(given, anchors),
                        by)
                .with(Machine.peersOfWorker(controller, others()));
    }

    static Credential credential(HandedOver given, SecretMemory key) throws IOException {
        return new Credential(Certificate.parse(given.certificates().get(0).toByteArray()), new LockedKey(key));
    }

    static List<Certificate> authorities(HandedOver given, IkeAnchors anchors) throws IOException {
        List<byte[]> verified =
                given.authorities().stream().map(ByteString::toByteArray).toList();
        List<Certificate> authorities = new ArrayList<>();
        for (byte[] each : anchors.believing(verified)) {
            authorities.add(Certificate.parse(each));
        }
        return authorities;
    }

    List<StorageMount> mounts() {
        return handOver.mounts().stream()
                .map(mount -> new StorageMount(
                        mount.export().text(), Path.of(mount.point().text()), mount.readOnly()))
                .toList();
    }

    NodeAddresses names() {
        Map<String, Address> byName = new HashMap<>();
        byName.put(controller(), controllerAddress());
        byName.put(label(), address(handOver.station().address()));
        others().forEach(machine -> byName.put(machine.name(), machine.address()));
        return new NodeAddresses(label(), byName);
    }

    Members members() {
        return new Members(handOver.accounts().users().stream()
                .map(user -> new Member(user.login(), user.uid(), user.gid()))
                .toList());
    }

    /** By login. */
    Map<String, Path> homes() {
        Map<String, Path> homes = new HashMap<>();
        handOver.accounts()
                .users()
                .forEach(user -> homes.put(user.login(), Path.of(user.home().text())));
        return homes;
    }

    /**
     * slurmd's arguments, as a unit has them: CPUs and memory are those that it finds itself.
     *
     * @param scratchMib what its folder for temporary files has; empty without a disk for it
     */
    String slurmd(OptionalLong scratchMib) {
        String feature = "Feature=" + LocalSlurm.feature(handOver.place().ticket());
        String disk = scratchMib.isPresent() ? " TmpDisk=" + scratchMib.getAsLong() : "";
        return "-Z --conf-server " + controllerAddress() + ":" + handOver.job().port() + " --conf \"" + feature + disk
                + "\"";
    }

    String project() {
        return handOver.name().project();
    }

    private static Address address(org.cloister.protocol.ticket.Address address) {
        return new Address(address.toString());
    }
}
