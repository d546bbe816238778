"""Names of models and makers in running text, in many languages and spellings."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.blinding import HIDDEN_NAME, blind_turns, names_to_hide
from reviews.blindness.known_names import Detector, detector
from reviews.blindness.leak_scan import spans_to_hide

MODELS = [
    ("claude-3-5-sonnet", "anthropic", "Anthropic"),
    ("gpt-4o", "openai", "OpenAI"),
    ("gemini-1.5-pro", "google", "Google"),
    ("llama-3-70b", "meta", "Meta"),
    ("mistral-large", "mistral", "Mistral AI"),
    ("deepseek-v3", "deepseek", "DeepSeek"),
    ("qwen2.5-72b", "alibaba", "Alibaba"),
    ("grok-2", "xai", "xAI"),
    ("zebra-2", "zebra", "Acmeworks"),
]


CERTAIN = [
    ("I'm Zebra-2, made by Acmeworks.", ["Zebra-2", "Acmeworks"]),
    ("As ZEBRA 2 I would say so.", ["ZEBRA 2"]),
    ("I'm Claude, an AI assistant made by Anthropic.", ["Claude", "Anthropic"]),
    ("My name is Claude.", ["Claude"]),
    ("i am actually claude and glad to help", ["claude"]),
    ("Claude 3.5 Sonnet here!", ["Claude 3.5 Sonnet"]),
    ("As Claude-3, I cannot.", ["Claude-3"]),
    ("Ｃｌａｕｄｅ 3.5 is what I am", ["Ｃｌａｕｄｅ 3.5"]),
    ("Ch\u200bat\u200dGPT speaking", ["Ch\u200bat\u200dGPT"]),
    ("СhаtGРТ with letters that look alike", ["СhаtGРТ"]),
    ("I'm ChatGPT, a language model.", ["ChatGPT"]),
    ("chat gpt, gpt4o and GPT 4o", ["chat gpt", "gpt4o", "GPT 4o"]),
    ("OpenAI trained me on text.", ["OpenAI"]),
    ("As an AI language model developed by OpenAI, I cannot.", ["OpenAI"]),
    ("I am a large language model, trained by Google.", ["Google"]),
    ("I'm Gemini, how can I help?", ["Gemini"]),
    ("Gemini 1.5 Pro answers", ["Gemini 1.5 Pro"]),
    ("I'm an AI built by Meta.", ["Meta"]),
    ("I am Llama, and Llama-3-70b at that", ["Llama", "Llama-3-70b"]),
    ("Meta AI is what they call me", ["Meta AI"]),
    ("I was created by Mistral AI", ["Mistral AI"]),
    ("I'm DeepSeek-V3.", ["DeepSeek-V3"]),
    ("I am Qwen, created by Alibaba Cloud.", ["Qwen", "Alibaba Cloud"]),
    ("I'm Grok, built by xAI.", ["Grok", "xAI"]),
    ("My creator, Anthropic, wants it", ["Anthropic"]),
    ("I was made by Moonshot AI", ["Moonshot AI"]),
    ("Soy Claude, un modelo creado por Anthropic", ["Claude", "Anthropic"]),
    ("Fui entrenado por Google", ["Google"]),
    ("Je suis ChatGPT, entraîné par OpenAI", ["ChatGPT", "OpenAI"]),
    ("J'ai été créé par Meta", ["Meta"]),
    ("Ich bin Claude und wurde von Anthropic entwickelt", ["Claude", "Anthropic"]),
    ("Ich wurde von Google trainiert", ["Google"]),
    ("Eu sou o Gemini, treinado pelo Google", ["Gemini", "Google"]),
    ("Sono Claude, sviluppato da Anthropic", ["Claude", "Anthropic"]),
    ("Sono stato addestrato da Google", ["Google"]),
    ("Я Клод, меня создала компания Антропик", ["Клод", "Антропик"]),
    ("Меня обучила компания Гугл", ["Гугл"]),
    ("Спросите ЧатГПТ", ["ЧатГПТ"]),
    ("أنا كلود من تطوير أنثروبيك", ["كلود", "أنثروبيك"]),
    ("أنا نموذج لغوي كبير من تطوير جوجل", ["جوجل"]),
    ("שמי קלוד ופותחתי על ידי אנתרופיק", ["קלוד", "אנתרופיק"]),
    ("אני ג'מיני", ["ג'מיני"]),
    ("我是克劳德", ["克劳德"]),
    ("我是由谷歌训练的大型语言模型", ["谷歌"]),
    ("我叫通义千问", ["通义千问"]),
    ("私はクロードです", ["クロード"]),
    ("私はGoogleによって開発されました", ["Google"]),
    ("저는 챗GPT입니다", ["챗GPT"]),
    ("मैं चैटजीपीटी हूँ", ["चैटजीपीटी"]),
    ("I'm an assistant by Meta.", ["Meta"]),
    ("Ich bin ein Sprachmodell von Google.", ["Google"]),
    ("Ich bin ein großes Sprachmodell von OpenAI.", ["OpenAI"]),
    ("Als KI-Assistent von Anthropic darf ich das nicht.", ["Anthropic"]),
    ("Je suis un modèle de langage de Google.", ["Google"]),
    ("Je suis un grand modèle de langage développé par Mistral AI.", ["Mistral AI"]),
    ("Je suis un assistant de Meta.", ["Meta"]),
    ("Soy un modelo de lenguaje de Google.", ["Google"]),
    ("Soy un gran modelo de lenguaje desarrollado por OpenAI.", ["OpenAI"]),
    ("Sou um modelo de linguagem da Google.", ["Google"]),
    ("Sono un modello linguistico di Google.", ["Google"]),
    ("Я языковая модель от Google.", ["Google"]),
    ("أنا نموذج لغوي من Google.", ["Google"]),
    ("أنا مساعد ذكي من شركة ميتا", ["ميتا"]),
    ("אני מודל שפה של גוגל", ["גוגל"]),
    ("我是OpenAI开发的语言模型。", ["OpenAI"]),
    ("我是谷歌的语言模型", ["谷歌"]),
    ("私はGoogleの言語モデルです。", ["Google"]),
    ("저는 OpenAI에서 개발한 언어 모델입니다.", ["OpenAI"]),
    ("저는 앤트로픽이 만든 클로드입니다.", ["앤트로픽", "클로드"]),
    ("저는 구글에 의해 훈련된 대규모 언어 모델입니다.", ["구글"]),
    ("제 이름은 클로드입니다.", ["클로드"]),
    ("저를 만든 곳은 오픈AI입니다.", ["오픈AI"]),
    ("구글의 언어 모델로서 말씀드리면", ["구글"]),
    ("私の名前は「クロード」です。", ["クロード"]),
    ("クロードと申します。", ["クロード"]),
    ("ぼくはジェミニだよ", ["ジェミニ"]),
    ("您可以叫我克劳德。", ["克劳德"]),
    ("我的名字叫做「克勞德」", ["克勞德"]),
    ("作为谷歌开发的语言模型，我不能", ["谷歌"]),
    ("اسمي هو كلود", ["كلود"]),
    ("قامت شركة جوجل بتدريبي", ["جوجل"]),
    ("मेरा नाम क्लॉड है", ["क्लॉड"]),
    ("मैं गूगल द्वारा प्रशिक्षित एक बड़ा भाषा मॉडल हूँ", ["गूगल"]),
    ("मैं Google का AI सहायक हूँ", ["Google"]),
    ("Benim adım Claude.", ["Claude"]),
    ("Ben Claude, Anthropic tarafından geliştirilen bir asistanım.", ["Claude", "Anthropic"]),
    ("GEMİNİ 1.5 PRO", ["GEMİNİ 1.5 PRO"]),
    ("Меня зовут «Клод».", ["Клод"]),
    ("Моим создателем является Гугл.", ["Гугл"]),
    ("אפשר לקרוא לי קלוד", ["קלוד"]),
    ("Mein Name ist „Claude“.", ["Claude"]),
]


UNCERTAIN = [
    ("Claude would know.", ["Claude"]),
    ("Are you Gemini?", ["Gemini"]),
    ("Opus is the best of them.", ["Opus"]),
    ("Ask Meta.", ["Meta"]),
    ("Kimi said so.", ["Kimi"]),
    ("Claude is my uncle.", ["Claude"]),
    ("Copilot can do that.", ["Copilot"]),
    ("Gemini, Leo or Virgo?", ["Gemini"]),
    ("저는 클로드를 알아요", ["클로드"]),
    ("私はクロードが好きです", ["クロード"]),
    ("I was trained by Fernworks to help.", ["I was trained by Fernworks"]),
    ("My developers would not like that.", ["My developers"]),
    ("The company that created me says so.", ["company that created me"]),
    ("Mis desarrolladores lo decidieron.", ["Mis desarrolladores"]),
    ("Mes créateurs l'ont voulu.", ["Mes créateurs"]),
    ("Meine Entwickler wollten das so.", ["Meine Entwickler"]),
    ("Meus criadores decidiram.", ["Meus criadores"]),
    ("I miei sviluppatori lo sanno.", ["miei sviluppatori"]),
    ("Мои разработчики так решили.", ["Мои разработчики"]),
    ("قال مطوري ذلك", ["مطوري"]),
    ("המפתחים שלי החליטו", ["המפתחים שלי"]),
    ("我的开发者决定了", ["我的开发者"]),
    ("私の開発者が決めました", ["私の開発者"]),
    ("저의 개발자들이 그렇게 정했습니다.", ["저의 개발자"]),
    ("저를 훈련시킨 회사가 그렇게 말했습니다.", ["저를 훈련시킨"]),
    ("मेरे डेवलपर्स ने कहा", ["मेरे डेवलपर्स"]),
    ("Ferrum tarafından eğitildim.", ["Ferrum tarafından eğitildim"]),
    ("طورني فريق من المهندسين", ["طورني فريق من المهندسين"]),
]


INNOCENT = [
    "I googled it.",
    "Claude Monet painted water lilies.",
    "My name is not Claude Monet, and he was no Claude Debussy.",
    "Jean-Claude is coming to dinner.",
    "Gemini (the star sign) begins in May.",
    "She is a Gemini woman, born in Gemini season.",
    "We tried to grok the idea.",
    "The mistral wind blew all night; it was a Mistral wind.",
    "A meta-analysis of forty trials, metadata and metaphors.",
    "The Bard of Avon wrote sonnets.",
    "Her magnum opus, a haiku and a sonnet.",
    "Just Google it, or look at Google Maps.",
    "The Dalai Lama smiled.",
    "I'm tired, and I am an only child.",
    "As an AI language model, I have no feelings.",
    "The cake was made by hand.",
    "My training as a nurse helped.",
    "Zebras run; zebrafish swim.",
    "the claudication of the leg",
    "Metal, methane and Metamorphosis",
    "Amazon rainforest",
    "El niño se llama Pedro.",
    "Je suis assistante de vie à Paris.",
    "Soy asistente de vuelo y estoy cansado.",
    "Sono assistente di volo.",
    "Ich bin Lehrer von Beruf.",
    "Метан и метафора, метод и металл.",
    "далай-лама улыбнулся",
    "我是一个学生",
    "メタバースで会いましょう",
    "저는 인공지능 언어 모델입니다.",
    "구글에서 검색해 보세요.",
    "나는 학교에서 개발을 배웠어요.",
    "作为一个负责任的助手，我想",
    "母が作った料理です。",
    "मैं एक AI सहायक हूँ",
    "Ben bir yapay zekâ asistanıyım.",
    "Hi Ben, it's a long day.",
    "Моё имя не важно.",
]
"""Not a hit at all, or at most one that waits for a person."""


@pytest.fixture(scope="module")
def known() -> Detector:
    return detector(frozenset(names_to_hide(MODELS)), frozenset(MODELS))


@pytest.mark.parametrize(("text", "words"), CERTAIN)
def test_a_name_of_the_study_s_models_is_certain_in_any_spelling_and_script(
    known: Detector, text: str, words: list[str]
) -> None:
    found = known.find(text, by_chatbot=True)
    assert [one.found for one in found if one.certain] == words
    assert [text[one.start : one.end] for one in found] == [one.found for one in found]


@pytest.mark.parametrize(("text", "words"), UNCERTAIN)
def test_a_word_that_may_mean_something_else_waits_for_a_person(
    known: Detector, text: str, words: list[str]
) -> None:
    found = known.find(text, by_chatbot=True)
    assert [one.found for one in found] == words
    assert not any(one.certain for one in found)


@pytest.mark.parametrize("text", INNOCENT)
@pytest.mark.parametrize("by_chatbot", [True, False])
def test_an_innocent_sentence_is_no_hit(known: Detector, text: str, by_chatbot: bool) -> None:
    assert known.find(text, by_chatbot=by_chatbot) == []


@pytest.mark.parametrize("text", ["a claude farm in Peru", "Is a gemini a sign?", "Gemini Rising"])
def test_an_ordinary_word_that_is_also_a_model_of_the_study_is_never_certain(
    known: Detector, text: str
) -> None:
    assert not any(one.certain for one in known.find(text, by_chatbot=True))


def test_a_person_who_says_who_they_are_is_not_taken_for_a_model(known: Detector) -> None:
    said = known.find(
        "I'm Claude, and I was trained by Acme Plumbing. My developers are on leave.", by_chatbot=False
    )
    assert [(one.found, one.certain) for one in said] == [("Claude", False)]


def test_a_model_that_is_not_in_the_study_is_certain_only_where_the_chatbot_calls_itself_so() -> None:
    alone = detector(frozenset(["corvid-7"]), frozenset([("corvid-7", "corvid", "Halden Works")]))
    (mentioned,) = alone.find("I asked ChatGPT first.", by_chatbot=False)
    (claimed,) = alone.find("I am ChatGPT.", by_chatbot=True)
    assert (mentioned.certain, mentioned.own) == (False, False)
    assert (claimed.certain, claimed.own) == (True, False)


def test_offsets_count_code_points_of_the_original() -> None:
    text = "😀 Cl\u200baude\u0301 2, a 𝐙𝐞𝐛𝐫𝐚"
    (turn,) = blind_turns(
        [{"role": "assistant", "content": text}],
        hidden_spans=spans_to_hide([{"role": "assistant", "content": text}], models=MODELS),
    )
    assert turn.text == f"😀 {HIDDEN_NAME}, a {HIDDEN_NAME}"


PIECES = [
    "Claude",
    "gpt-4o",
    "I'm ",
    "made by ",
    "Acmeworks",
    "\u200b",
    "\u0301",
    "😀",
    " ",
    "\n",
    "由",
    "ク",
    "ロード",
    "ＧＰＴ",
    "ﬁ",
    "İ",
    ".",
]


@given(st.lists(st.sampled_from(PIECES) | st.characters(), max_size=30).map("".join))
@settings(deadline=None, max_examples=150)
def test_places_are_in_order_apart_and_what_they_say_whatever_the_text(text: str) -> None:
    found = detector(frozenset(names_to_hide(MODELS)), frozenset(MODELS)).find(text, by_chatbot=True)
    assert [text[one.start : one.end] for one in found] == [one.found for one in found]
    ends = [place for one in found for place in (one.start, one.end)]
    assert ends == sorted(ends)
    assert all(one.start < one.end for one in found)


def test_a_long_transcript_full_of_cues_is_masked_at_once() -> None:
    turns = [
        {
            "role": role,
            "content": "I was, by the way, trained by my developers, I, I, as an AI, an AI. " * 290,
        }
        for _ in range(6)
        for role in ("user", "assistant")
    ]
    spans_to_hide(turns[:1], models=MODELS)
    started = time.perf_counter()
    spans_to_hide(turns, models=MODELS)
    assert time.perf_counter() - started < 5
