package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines as nft 1.0.6 and 1.1.3 print them; {@link HostStackFilterTest} has the program itself. */
class RulesMonitorTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "delete rule inet cloister-br c handle 2",
                "delete chain inet cloister-br c",
                "delete table inet cloister-br"
            })
    void a_removal_of_anything_of_the_table_is_one(String event) {
        assertThat(RulesMonitor.isRemoval(event, "cloister-br")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "add table inet cloister-br",
                "add rule inet cloister-br c accept",
                "delete table inet cloister-br2",
                "delete rule inet other c handle 2",
                "# new generation 5 by process 8537 (nft)",
                ""
            })
    void what_is_added_and_what_is_of_another_table_is_none(String event) {
        assertThat(RulesMonitor.isRemoval(event, "cloister-br")).isFalse();
    }
}
