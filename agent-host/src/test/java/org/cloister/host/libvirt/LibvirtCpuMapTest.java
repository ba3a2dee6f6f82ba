package org.cloister.host.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.host.domain.CpuSet;
import org.junit.jupiter.api.Test;

class LibvirtCpuMapTest {
    @Test
    void a_map_has_a_bit_for_each_cpu() {
        assertThat(LibvirtHypervisor.cpuMap(CpuSet.parse("0"))).containsExactly(1);
        assertThat(LibvirtHypervisor.cpuMap(CpuSet.parse("7-8"))).containsExactly(0x80, 1);
        assertThat(LibvirtHypervisor.cpuMap(CpuSet.parse("1,17"))).containsExactly(2, 0, 2);
    }
}
