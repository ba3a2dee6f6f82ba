package org.cloister.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.cloister.preflight.machine.LiveMachine;
import org.cloister.preflight.machine.RecordedMachine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every file in {@code findings/} is a role and a check, the finding it must give, and what the machine answered. */
class FindingsTest {
    private static final RelaySlurmSettings SLURM = new RelaySlurmSettings(
            RelaySlurmSettings.DEFAULT_USER,
            RelaySlurmSettings.DEFAULT_PARTITION,
            Optional.of("controllers"),
            List.of("climate", "genomes"));
    private static final Path FOLDER = Path.of("src/test/resources/findings");

    static List<String> recordings() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("recordings")
    void finds(String name) throws IOException {
        String[] parts = Files.readString(FOLDER.resolve(name)).split("\n\n", 2);
        String[] head = parts[0].split("\n", 2);
        String[] subject = head[0].split(" ", 2);
        PreflightChecks doctor =
                new PreflightChecks(MachineRole.valueOf(subject[0].toUpperCase(Locale.ROOT)), "qemu:///system", SLURM);
        assertThat(doctor.checkNames()).contains(subject[1]);
        PreflightFinding finding = doctor.examine(RecordedMachine.parse(parts[1]), Set.of(subject[1]))
                .findings()
                .get(0);
        assertThat(finding.check()).isEqualTo(subject[1]);
        String remedy = finding.remedy().map(text -> "; mend: " + text).orElse("");
        assertThat(finding.severity() + ": " + finding.text() + remedy).isEqualTo(head[1]);
    }

    @ParameterizedTest
    @EnumSource(MachineRole.class)
    void has_a_good_and_a_bad_recording_of_every_check(MachineRole role) throws IOException {
        Set<String> missing = new TreeSet<>();
        for (String check : new PreflightChecks(role, "", SLURM).checkNames()) {
            missing.add(check + " ok");
            missing.add(check + " bad");
        }
        for (String name : recordings()) {
            List<String> lines = Files.readAllLines(FOLDER.resolve(name));
            String check = lines.get(0).split(" ", 2)[1];
            missing.remove(check + (lines.get(1).startsWith("ok") ? " ok" : " bad"));
        }
        assertThat(missing).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(MachineRole.class)
    void gives_one_finding_a_check_on_this_machine_with_a_mend_for_all_that_is_not_well(MachineRole role)
            throws Exception {
        try (LiveMachine machine = new LiveMachine()) {
            PreflightChecks doctor = new PreflightChecks(role, "qemu:///system", SLURM);
            PreflightReport examination = doctor.examine(machine, Set.of());
            assertThat(examination.findings()).map(PreflightFinding::check).isEqualTo(doctor.checkNames());
            for (PreflightFinding finding : examination.findings()) {
                assertThat(finding.text()).isNotBlank();
                assertThat(finding.remedy().isPresent()).isEqualTo(finding.severity() != FindingSeverity.OK);
            }
        }
    }

    @Test
    void a_relay_that_takes_no_openings_lacks_no_partition_for_them() {
        RelaySlurmSettings slurm = new RelaySlurmSettings(
                RelaySlurmSettings.DEFAULT_USER, RelaySlurmSettings.DEFAULT_PARTITION, Optional.empty(), List.of());
        PreflightReport examination = new PreflightChecks(MachineRole.RELAY, "", slurm)
                .examine(RecordedMachine.parse("run scontrol ping\n= 1\n"), Set.of("slurm-controllers"));
        assertThat(examination.worstSeverity()).isEqualTo(FindingSeverity.OK);
        assertThat(examination.findings().get(0).text()).contains("takes no openings");
    }

    @Test
    void reports_the_worst_finding() {
        PreflightCheck swap = new SwapCheck();
        List<PreflightFinding> findings = new ArrayList<>();
        assertThat(new PreflightReport(MachineRole.HOST, findings).worstSeverity())
                .isEqualTo(FindingSeverity.OK);
        findings.add(PreflightFinding.failure(swap, "a", "b"));
        findings.add(PreflightFinding.warning(swap, "a", "b"));
        assertThat(new PreflightReport(MachineRole.HOST, findings).worstSeverity())
                .isEqualTo(FindingSeverity.FAILURE);
    }
}
