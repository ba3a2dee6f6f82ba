package org.cloister.host.receipt;

import java.io.IOException;
import java.util.List;

/** A folder of lives whose process is killed before or after one of its writes. */
final class KilledLives implements Lives {
    private final Lives lives;
    private int left;

    /** The process ends here. */
    static final class Killed extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** @param point counted from 1, two for each write; 0 for none */
    KilledLives(Lives lives, int point) {
        this.lives = lives;
        this.left = point;
    }

    private void point() {
        left--;
        if (left == 0) {
            throw new Killed();
        }
    }

    /** Points that were passed. */
    int passed() {
        return -left;
    }

    @Override
    public List<Life> all() throws IOException {
        return lives.all();
    }

    @Override
    public void put(Life life) throws IOException {
        point();
        lives.put(life);
        point();
    }

    @Override
    public void drop(Life life) throws IOException {
        point();
        lives.drop(life);
        point();
    }
}
