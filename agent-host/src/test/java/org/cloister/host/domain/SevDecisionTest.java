package org.cloister.host.domain;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.host.domain.SevDecision.Mode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SevDecisionTest {
    @ParameterizedTest(name = "{0}, host has {1}, owners demand {2}: {3}")
    @CsvSource({
        "OFF,       NONE,    NONE,    plain",
        "OFF,       SEV,     NONE,    plain",
        "OFF,       SEV_SNP, NONE,    plain",
        "OFF,       SEV_SNP, SEV,     demands sev and this host has it switched off",
        "OFF,       SEV_SNP, SEV_SNP, demands sev-snp and this host has it switched off",
        "PREFERRED, NONE,    NONE,    plain",
        "PREFERRED, NONE,    SEV,     demands sev and this host has none",
        "PREFERRED, NONE,    SEV_SNP, demands sev-snp and this host has none",
        "PREFERRED, SEV,     NONE,    SEV",
        "PREFERRED, SEV,     SEV,     SEV",
        "PREFERRED, SEV,     SEV_SNP, demands sev-snp and this host has sev",
        "PREFERRED, SEV_SNP, NONE,    SEV_SNP",
        "PREFERRED, SEV_SNP, SEV,     SEV_SNP",
        "PREFERRED, SEV_SNP, SEV_SNP, SEV_SNP",
        "REQUIRED,  NONE,    NONE,    required and this host has neither",
        "REQUIRED,  NONE,    SEV_SNP, demands sev-snp and this host has none",
        "REQUIRED,  SEV,     NONE,    SEV",
        "REQUIRED,  SEV,     SEV_SNP, demands sev-snp and this host has sev",
        "REQUIRED,  SEV_SNP, NONE,    SEV_SNP",
        "REQUIRED,  SEV_SNP, SEV_SNP, SEV_SNP"
    })
    void setting_host_and_demand_decide(Mode mode, MemoryProtection host, MemoryProtection required, String want) {
        SevDecision decision = SevDecision.of(mode, new SevCapabilities(host, false), required);
        if (want.equals("plain")) {
            assertThat(decision).isEqualTo(new SevDecision.Plain());
        } else if (want.startsWith("SEV")) {
            assertThat(decision)
                    .isEqualTo(new SevDecision.Protect(new LaunchSecurity(MemoryProtection.valueOf(want), false)));
        } else {
            assertThat(decision)
                    .isInstanceOfSatisfying(
                            SevDecision.Refuse.class,
                            refuse -> assertThat(refuse.reason())
                                    .contains(want.split(" and ", -1)[0].replace("demands", "policy demands"))
                                    .contains(want.split(" and ", -1)[1]));
        }
    }

    @Test
    void guests_may_be_neither_debugged_nor_migrated() {
        assertThat(new LaunchSecurity(MemoryProtection.SEV, false).policy()).isEqualTo("0x003b");
        assertThat(new LaunchSecurity(MemoryProtection.SEV, true).policy()).isEqualTo("0x003f");
        assertThat(new LaunchSecurity(MemoryProtection.SEV_SNP, false).policy()).isEqualTo("0x30000");
    }
}
