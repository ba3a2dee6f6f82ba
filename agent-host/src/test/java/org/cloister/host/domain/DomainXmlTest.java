package org.cloister.host.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The files beside are what reviewers read; what the code writes now lies in target/golden. */
@Tag("boundary")
class DomainXmlTest {
    private static final Path WRITTEN = Path.of("target", "golden");

    @TestFactory
    Stream<DynamicTest> writes_the_domain_of_its_file() {
        return DomainSamples.all().entrySet().stream()
                .map(each -> DynamicTest.dynamicTest(each.getKey(), () -> {
                    String xml = DomainXml.of(each.getValue());
                    Files.createDirectories(WRITTEN);
                    Files.writeString(WRITTEN.resolve(each.getKey() + ".xml"), xml);
                    assertThat(xml).isEqualTo(file(each.getKey()));
                }));
    }

    @Test
    void a_guest_in_production_has_one_channel_and_nothing_to_look_in_by() {
        for (Map.Entry<String, DomainSpec> each : DomainSamples.all().entrySet()) {
            String xml = DomainXml.of(each.getValue());
            assertThat(xml)
                    .as(each.getKey())
                    .containsOnlyOnce("<channel ")
                    .containsOnlyOnce("<interface ")
                    .contains("dumpCore=\"off\"", "<nosharepages/>", "<memballoon model=\"none\"/>")
                    .contains("type=\"usb\" model=\"none\"")
                    .doesNotContain(
                            "<graphics", "<video", "<console", "guest_agent", "<shmem", "<hostdev", "<filesystem");
            assertThat(xml.contains("<serial type"))
                    .as(each.getKey())
                    .isEqualTo(each.getKey().equals("debug-console"));
        }
    }

    @Test
    void no_guest_has_what_the_hosts_kernel_would_emulate_and_no_guest_uses() {
        for (Map.Entry<String, DomainSpec> each : DomainSamples.all().entrySet()) {
            String xml = DomainXml.of(each.getValue());
            assertThat(xml)
                    .as(each.getKey())
                    .contains("<pmu state=\"off\"/>", "<smm state=\"off\"/>")
                    .doesNotContain("<hyperv", "<nested");
            for (String name : new String[] {"vmx", "svm"}) {
                // QEMU's emulation of svm is its own process's, and a guest without it does not run well.
                assertThat(xml.contains("<feature policy=\"disable\" name=\"" + name + "\"/>"))
                        .as(each.getKey() + " without " + name)
                        .isEqualTo(each.getValue().accelerator() == Accelerator.KVM);
            }
        }
    }

    /** With the format left to QEMU, a guest's first sector could say that its disk is a qcow2 with the host's files behind it. */
    @Test
    void every_disk_is_said_to_be_raw() {
        for (Map.Entry<String, DomainSpec> each : DomainSamples.all().entrySet()) {
            String[] disks = DomainXml.of(each.getValue()).split("<disk ", -1);
            assertThat(disks).as(each.getKey()).hasSizeGreaterThan(1);
            for (int i = 1; i < disks.length; i++) {
                assertThat(disks[i]).as(each.getKey()).containsPattern("^[^<]*<driver name=\"qemu\" type=\"raw\"");
            }
        }
    }

    @Test
    void every_device_that_moves_a_protected_guests_memory_is_told_so() {
        for (String name : new String[] {"sev", "sev-snp"}) {
            String xml = DomainXml.of(DomainSamples.sample(name));
            long virtio = Stream.of("<disk ", "<interface ", "type=\"virtio-serial\"", "<rng ")
                    .mapToLong(device -> xml.split(device, -1).length - 1L)
                    .sum();
            assertThat(xml.split("iommu=\"on\"", -1).length - 1).as(name).isEqualTo((int) virtio);
        }
    }

    @Test
    void values_that_do_not_go_together_are_refused() {
        CpuPlacement cpus = DomainSamples.placement(1, "0", OptionalInt.empty());
        Optional<LaunchSecurity> sev = Optional.of(new LaunchSecurity(MemoryProtection.SEV, false));
        assertThatThrownBy(() -> DomainSamples.spec(Accelerator.TCG, cpus, MemoryBacking.PLAIN, false, sev, false))
                .hasMessage("launch security: want kvm, have TCG");
        MemoryBacking gigantic = new MemoryBacking(OptionalInt.of(1 << 20), false);
        assertThatThrownBy(() -> DomainSamples.spec(Accelerator.KVM, cpus, gigantic, false, Optional.empty(), false))
                .hasMessage("memory: want whole hugepages of 1048576 KiB, have 4416 MiB");
        assertThatThrownBy(() -> new DomainDisk(Path.of("/var/lib/x,readonly=off"), "scratch", DomainDisk.Use.WRITABLE))
                .hasMessageStartingWith("disk: want an absolute path");
        assertThatThrownBy(
                        () -> new DomainDisk(Path.of("/var/lib/../../etc/shadow"), "scratch", DomainDisk.Use.WRITABLE))
                .hasMessageContaining("without ..");
        assertThatThrownBy(() -> DomainSamples.placement(256, "0-255", OptionalInt.empty()))
                .hasMessage("vcpus: want 1 to 255, have 256");
    }

    private static String file(String name) throws IOException {
        try (InputStream in = DomainXmlTest.class.getResourceAsStream(name + ".xml")) {
            return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
