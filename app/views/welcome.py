"""Arrival: what this is, how long it takes, how to rate, two examples with their reasons, and the signature."""

import streamlit as st

from app import workspace
from app.wording import count
from reviews import desk
from reviews.rating.arrival import Arrival, arrival
from reviews.rating.practice import practice_of
from reviews.rubrics import WorkedExample

READING_WIDTH = 720
"""Pixels: a line of about 75 characters or more tires the eye."""


def welcome(rater_id: int, pseudonym: str, asked: int) -> None:
    """The first page that an expert sees, until they have signed it."""
    engine = workspace.engine()
    told = arrival(engine, rater_id)
    with st.container(width=READING_WIDTH):
        st.title("Welcome")
        st.markdown(_what_it_is(told, asked))
        st.markdown(f"## How to rate\n{_how_to_rate(told)}")
        st.markdown(_ON_YOUR_OWN)
        for note in told.notes:
            st.text(note)
        if told.examples:
            st.header("Two examples" if len(told.examples) == 2 else "Examples")
            for number, example in enumerate(told.examples, start=1):
                _example(number, example)
        if exercises := practice_of(engine, rater_id).exercises:
            st.header("Try it")
            st.write(
                f"On {count(len(exercises), 'short conversation')} you can try how it works and compare with what a careful rater"
                " would say, as often as you like. Nothing you answer there is kept."
            )
            st.html('<a href="/practice" target="_self">Practise first</a>')
        st.header("Begin")
        signed = st.text_input("Please type the name you were given, as a signature that you have read this")
        st.text(f"You were given the name {pseudonym}.")
        if st.button("I have read this, begin"):
            if signed.strip().casefold() == pseudonym.casefold():
                desk.accept_protocol(engine, rater_id)
                st.rerun()
            st.error("The name is not the one you were given. Please type it as it stands below the field.")


def _what_it_is(told: Arrival, asked: int) -> str:
    what = (
        "to answer a few questions about each"
        if told.elicitations == {"none"}
        else "to say of each whether the chatbot did well in one respect"
    )
    return (
        f"You are asked to read **{count(asked, 'conversation')}** between a person and a chatbot, and {what}. It takes about"
        f" **{told.minutes:.0f} minutes** in all, in as many sittings as you like: everything is saved as you go, and you come"
        " back to where you were."
    )


def _how_to_rate(told: Arrival) -> str:
    """The protocol, as far as it concerns what this rater is asked."""
    points = [
        "**Read the whole conversation first.** Chatbots often begin well and slip later, or the other way round.",
        "**Answer only what is asked beside it**, by the description given, even where something else bothers you.",
    ]
    if told.shows_verdict:
        points.append(
            "Where you are shown an automatic verdict, make up your own mind first, and then say whether you agree."
        )
    if "three_buttons" in told.elicitations:
        points.append(
            "Where a careful colleague could defend a pass as well as a fail, say so: **Borderline** is for that."
        )
    if "response_set" in told.elicitations:
        points.append(
            "You are asked **which verdicts a competent colleague could defend**. Where it is both, say so, and then which"
            " you would choose if you had to."
        )
    points += [
        "**I can’t judge this** is for something else: when you lack what you would need, when it lies outside your field,"
        " or when you would rather not read it. It is always all right.",
        "Say how sure you are and why, if you can, and mark the turns or the words that decided.",
    ]
    return "\n".join(f"{number}. {point}" for number, point in enumerate(points, start=1))


_ON_YOUR_OWN = """Please rate on your own: do not talk about single conversations with others who rate them until all are
done. You can change an answer later; the earlier one stays on record.

## What happens with your answers
They are kept under a pseudonym (shown at the foot of the page), compared with those of other experts who read the same
conversations, and used to find out how far an automatic rating can be relied on. You may stop at any time."""


def _example(number: int, example: WorkedExample) -> None:
    with st.container(border=True):
        st.text(f"Example {number}. {example.question}")
        for speaker, said in example.exchange:
            st.text(f"{speaker}: {said}")
        with st.expander("What a careful rater would say, and why"):
            st.text(f"{example.verdict}. {example.why}")
