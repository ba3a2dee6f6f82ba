package org.cloister.vm.tunnel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.ByteBuffer;
import java.util.List;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Peer;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.junit.jupiter.api.Test;

class MachineTest {
    private static final Machine CONTROLLER = new Machine("c", Identity.controller("c", "a"), new Address("10.70.0.1"));
    private static final Machine W1 = new Machine("w1", Identity.worker("w1", "a"), new Address("10.70.0.2"));
    private static final Machine W2 = new Machine("w2", Identity.worker("w2", "a"), new Address("10.70.0.3"));

    @Test
    void one_end_of_each_tunnel_makes_it() {
        assertThat(Machine.peersOfWorker(CONTROLLER, List.of(W2)))
                .extracting(Peer::name, Peer::start)
                .containsExactly(tuple("c", Peer.Start.INITIATE), tuple("w2", Peer.Start.ON_DEMAND));
        assertThat(Machine.peersOfController(List.of(W1, W2)))
                .extracting(Peer::start)
                .containsExactly(Peer.Start.WAIT, Peer.Start.WAIT);
    }

    @Test
    void a_locked_key_is_written_whole_and_to_native_memory_alone() throws Exception {
        Secrets secrets = Secrets.open(Secrets.Locking.RUN_WITHOUT_LOCKED_MEMORY);
        try (SecretMemory key = secrets.random(185)) {
            LockedKey locked = new LockedKey(key);
            ByteBuffer room = ByteBuffer.allocateDirect(200).position(7);
            locked.writeTo(room);
            assertThat(room.position()).isEqualTo(7 + locked.length());
            try (SecretMemory.Loan loan = key.lend()) {
                for (int i = 0; i < loan.length(); i++) {
                    assertThat(room.get(7 + i)).isEqualTo(loan.pointer().getByte(i));
                }
            }
            assertThat(room.get(6)).isZero();
            assertThatThrownBy(() -> locked.writeTo(ByteBuffer.allocate(200))).hasMessageStartingWith("private key: ");
            assertThatThrownBy(() -> locked.writeTo(ByteBuffer.allocateDirect(184)))
                    .hasMessageStartingWith("private key: ");
        }
    }
}
