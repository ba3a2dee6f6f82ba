package org.cloister.vm.worker.steps;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelCredential;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.VmNetworkConfig;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.IkeTrustAnchors;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.system.names.NodeAddresses;
import org.cloister.vm.system.network.NetworkPlan;
import org.cloister.vm.system.tunnel.LockedPrivateKey;
import org.cloister.vm.system.tunnel.TunnelPeer;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;
import org.cloister.vm.worker.storage.StorageMount;

/** Translates a hand-over into the plans of a worker's setup steps. */
record NodePlan(HandoverDocument handover, EspMode esp) {
    /** Returns the worker's own name in the Local Slurm. */
    String label() {
        return WorkerName.label(handover.target().ticket(), handover.target().slot());
    }

    /** Returns the controlling VM's name in tunnels and files. */
    String controller() {
        return handover.controller().id();
    }

    Ipv4Address ownAddress() {
        return address(handover.network().address());
    }

    Ipv4Address controllerAddress() {
        return address(handover.network().network().controller());
    }

    /** Returns the job's other nodes. */
    private List<TunnelPeer> others() {
        List<TunnelPeer> others = new ArrayList<>();
        for (org.cloister.protocol.handover.JobNode node : handover.job().nodes()) {
            if (node.slot() != handover.target().slot()) {
                String label = WorkerName.label(handover.target().ticket(), node.slot());
                others.add(new TunnelPeer(label, TunnelIdentity.worker(label, project()), address(node.address())));
            }
        }
        return others;
    }

    NetworkPlan networkPlan() {
        VmNetworkConfig config = handover.network();
        return new NetworkPlan(
                config.mac().toString(),
                address(config.address()),
                config.network().prefix(),
                config.mtu(),
                controllerAddress(),
                others().stream().map(TunnelPeer::address).toList(),
                esp);
    }

    /**
     * Returns the plan of all of this job's tunnels. The authority that issued the worker's certificate issued those of
     * all its peers, or will: while nodes return to a controlling VM that was reopened, some still have certificates of
     * the authority before.
     *
     * @param accepted what this node received last
     * @param key of its certificate, PKCS#8
     * @param anchors of this VM's tunnels
     */
    TunnelPlan tunnelPlan(AcceptedHandover accepted, SecretMemory key, IkeTrustAnchors anchors) throws IOException {
        TunnelPeer controller =
                new TunnelPeer(controller(), TunnelIdentity.controller(controller(), project()), controllerAddress());
        return TunnelPlan.of(
                        TunnelIdentity.worker(label(), project()),
                        address(handover.network().address()),
                        credential(accepted, key),
                        authorities(accepted, anchors),
                        esp)
                .with(TunnelPeer.peersOfWorker(controller, others()));
    }

    static TunnelCredential credential(AcceptedHandover accepted, SecretMemory key) throws IOException {
        return new TunnelCredential(
                DerCertificate.parse(accepted.certificates().get(0).toByteArray()), new LockedPrivateKey(key));
    }

    static List<DerCertificate> authorities(AcceptedHandover accepted, IkeTrustAnchors anchors) throws IOException {
        List<byte[]> verified =
                accepted.authorities().stream().map(ByteString::toByteArray).toList();
        List<DerCertificate> authorities = new ArrayList<>();
        for (byte[] each : anchors.certificatesFor(verified)) {
            authorities.add(DerCertificate.parse(each));
        }
        return authorities;
    }

    List<StorageMount> mounts() {
        return handover.mounts().stream()
                .map(mount -> new StorageMount(
                        mount.export().text(), Path.of(mount.point().text()), mount.readOnly()))
                .toList();
    }

    NodeAddresses names() {
        Map<String, Ipv4Address> byName = new HashMap<>();
        byName.put(controller(), controllerAddress());
        byName.put(label(), address(handover.network().address()));
        others().forEach(machine -> byName.put(machine.name(), machine.address()));
        return new NodeAddresses(label(), byName);
    }

    ProjectMembers members() {
        return new ProjectMembers(handover.accounts().users().stream()
                .map(user -> new ProjectMember(user.login(), user.uid(), user.gid()))
                .toList());
    }

    /** Returns the homes by login. */
    Map<String, Path> homes() {
        Map<String, Path> homes = new HashMap<>();
        handover.accounts()
                .users()
                .forEach(user -> homes.put(user.login(), Path.of(user.home().text())));
        return homes;
    }

    /**
     * Returns slurmd's arguments as a unit has them; slurmd determines CPUs and memory itself.
     *
     * @param scratchMib MiB of its folder for temporary files; empty without a scratch disk
     */
    String slurmdArguments(OptionalLong scratchMib) {
        String feature = "Feature=" + LocalSlurm.feature(handover.target().ticket());
        String disk = scratchMib.isPresent() ? " TmpDisk=" + scratchMib.getAsLong() : "";
        return "-Z --conf-server " + controllerAddress() + ":" + handover.job().port() + " --conf \"" + feature + disk
                + "\"";
    }

    ControllerPort controllerPort() throws UnknownHostException {
        return new ControllerPort(
                InetAddress.getByAddress(controllerAddress().bytes()),
                handover.job().port());
    }

    String project() {
        return handover.name().project();
    }

    private static Ipv4Address address(org.cloister.protocol.ticket.ProjectAddress address) {
        return new Ipv4Address(address.toString());
    }
}
