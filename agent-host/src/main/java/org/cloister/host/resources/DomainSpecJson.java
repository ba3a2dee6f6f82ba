package org.cloister.host.resources;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.base.address.MacAddress;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.DirectKernelBoot;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.HostNumaNode;
import org.cloister.host.domain.LaunchSecurity;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.MemoryProtection;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.ticket.ResourceRequest;

/** Reads and writes a domain's part of a plan's document, without its owner. */
final class DomainSpecJson {
    private DomainSpecJson() {}

    static void write(DomainSpec spec, ObjectNode json) {
        json.put("accelerator", spec.accelerator().name());
        json.putObject("boot")
                .put("firmware", spec.boot().firmware().toString())
                .put("kernel", spec.boot().kernel().toString())
                .put("initrd", spec.boot().initrd().toString())
                .put("commandLine", spec.boot().commandLine());
        ObjectNode cpus = json.putObject("cpus");
        cpus.put("count", spec.cpus().count()).put("set", spec.cpus().cpus().toString());
        spec.cpus().node().ifPresent(node -> cpus.put("node", node));
        if (!spec.cpus().nodes().isEmpty()) {
            ArrayNode nodes = cpus.putArray("nodes");
            for (HostNumaNode node : spec.cpus().nodes()) {
                nodes.addObject()
                        .put("node", node.number())
                        .put("set", node.cpus().toString());
            }
        }
        json.put("memoryMiB", spec.memoryMib());
        ObjectNode backing =
                json.putObject("backing").put("locked", spec.backing().locked());
        spec.backing().hugepageKib().ifPresent(kib -> backing.put("hugepageKiB", kib));
        if (!spec.disks().isEmpty()) {
            ArrayNode disks = json.putArray("disks");
            for (DomainDisk disk : spec.disks()) {
                disks.addObject()
                        .put("file", disk.file().toString())
                        .put("serial", disk.serial())
                        .put("use", disk.use().name());
            }
        }
        json.put("mac", spec.mac().text());
        json.put("channel", spec.channel().toString());
        json.put("tpm", spec.tpm());
        spec.launchSecurity()
                .ifPresent(security -> json.putObject("launchSecurity")
                        .put("protection", security.protection().name())
                        .put("encryptedState", security.encryptedState()));
        spec.debugConsole().ifPresent(file -> json.put("debugConsole", file.toString()));
    }

    static DomainSpec read(ResourceOwner owner, StrictJson json) throws MalformedException {
        DomainSpec spec = new DomainSpec(
                owner,
                Accelerator.valueOf(json.text("accelerator")),
                boot(json.object("boot")),
                cpus(json.object("cpus")),
                (int) json.number("memoryMiB", 1, ResourceRequest.MAX_MIB),
                backing(json.object("backing")),
                disks(json),
                new MacAddress(json.text("mac")),
                Path.of(json.text("channel")),
                json.flag("tpm"),
                launchSecurity(json),
                json.has("debugConsole") ? Optional.of(Path.of(json.text("debugConsole"))) : Optional.empty());
        json.requireNothingElse();
        return spec;
    }

    private static DirectKernelBoot boot(StrictJson json) throws MalformedException {
        DirectKernelBoot boot = new DirectKernelBoot(
                Path.of(json.text("firmware")),
                Path.of(json.text("kernel")),
                Path.of(json.text("initrd")),
                json.text("commandLine"));
        json.requireNothingElse();
        return boot;
    }

    private static CpuPlacement cpus(StrictJson json) throws MalformedException {
        CpuPlacement cpus = new CpuPlacement(
                (int) json.number("count", 1, CpuPlacement.MAX_COUNT),
                CpuSet.parse(json.text("set")),
                optional(json, "node"),
                nodes(json));
        json.requireNothingElse();
        return cpus;
    }

    private static List<HostNumaNode> nodes(StrictJson json) throws MalformedException {
        List<HostNumaNode> nodes = new ArrayList<>();
        if (json.has("nodes")) {
            for (StrictJson each : json.objects("nodes", CpuPlacement.MAX_COUNT)) {
                nodes.add(new HostNumaNode(
                        (int) each.number("node", 0, HostNumaNode.MAX_NUMBER), CpuSet.parse(each.text("set"))));
                each.requireNothingElse();
            }
        }
        return nodes;
    }

    private static MemoryBacking backing(StrictJson json) throws MalformedException {
        MemoryBacking backing = new MemoryBacking(optional(json, "hugepageKiB"), json.flag("locked"));
        json.requireNothingElse();
        return backing;
    }

    private static List<DomainDisk> disks(StrictJson json) throws MalformedException {
        List<DomainDisk> disks = new ArrayList<>();
        if (json.has("disks")) {
            for (StrictJson each : json.objects("disks", DomainSpec.MAX_DISKS)) {
                disks.add(new DomainDisk(
                        Path.of(each.text("file")), each.text("serial"), DomainDisk.Use.valueOf(each.text("use"))));
                each.requireNothingElse();
            }
        }
        return disks;
    }

    private static Optional<LaunchSecurity> launchSecurity(StrictJson json) throws MalformedException {
        if (!json.has("launchSecurity")) {
            return Optional.empty();
        }
        StrictJson security = json.object("launchSecurity");
        LaunchSecurity read = new LaunchSecurity(
                MemoryProtection.valueOf(security.text("protection")), security.flag("encryptedState"));
        security.requireNothingElse();
        return Optional.of(read);
    }

    private static OptionalInt optional(StrictJson json, String key) throws MalformedException {
        return json.has(key) ? OptionalInt.of((int) json.number(key, 0, Integer.MAX_VALUE)) : OptionalInt.empty();
    }
}
